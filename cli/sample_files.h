// SPDX-License-Identifier: Apache-2.0
// Reads samples to predict from files of any kind that a network can be trained on. The kind is
// recognised by the first bytes; samples are resized and scaled as in training.
#pragma once

#include "tutti/train/trained_network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::cli {

// Samples as the network wants them, and where each comes from.
struct SampleFiles {
  struct Place {
    std::string file;
    std::int64_t index = -1;  // number of the sample in the file; below 0: the file is one sample
  };

  std::vector<float> x = {};
  std::vector<Place> places = {};
};

// A place as text: "a.png", "t10k-images[3]".
std::string name_of(const SampleFiles::Place& place);

// Appends the samples of the file at `path`; throws Error that names the file, and then nothing is
// appended.
void append_samples(const Job& job, const TrainedNetwork& network, const std::string& path,
                    SampleFiles& samples);

}  // namespace tutti::cli
