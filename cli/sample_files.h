// SPDX-License-Identifier: Apache-2.0
// Samples to predict from in files of any kind that a network can be trained on, told by their
// first bytes, made into what the network was trained on.
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
    std::int64_t index = -1;  // in the file; below 0: it is all of it
  };

  std::vector<float> x = {};
  std::vector<Place> places = {};
};

// "a.png", "t10k-images[3]"
std::string name_of(const SampleFiles::Place& place);

// Appends the samples of the file at `path`; an Error names it, and nothing is appended.
void append_samples(const Job& job, const TrainedNetwork& network, const std::string& path,
                    SampleFiles& samples);

}  // namespace tutti::cli
