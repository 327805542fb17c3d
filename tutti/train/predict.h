// SPDX-License-Identifier: Apache-2.0
// What given weights say about samples that have no label.
#pragma once

#include "tutti/data/image.h"
#include "tutti/train/job.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Predictions {
  std::int64_t samples = 0;
  std::int64_t outputs = 0;           // per sample: the number of classes, or of predicted numbers
  std::vector<double> values;         // samples × outputs: probabilities, or the numbers
  std::vector<std::int64_t> classes;  // the most probable one of each sample; empty for regression
};

// `x` holds samples of the shape and scale that the network was trained on, one after the other.
// `weights` is NAME or NAME.safetensors.
Predictions predict(const Job& job, const std::string& weights, const std::vector<float>& x);

// Images as such samples: fitted to the shape and scaled as the data set's pixels are. An Error
// says when the network was not trained on images with as many channels.
std::vector<float> samples_of(const Job& job, const std::string& weights,
                              const std::vector<data::Image>& images);

// How the data set of the job fits images to the shape of its samples.
data::Fit fit_of(const Job& job);

// How the samples that the network was trained on were scaled; found in the same way.
data::Scaling trained_scaling(const Job& job, const std::string& weights);

// What the network was trained on: from the checkpoint, or from the data set where only the weights
// are there.
NetInput trained_input(const Job& job, const std::string& weights);

}  // namespace tutti
