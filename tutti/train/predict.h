// SPDX-License-Identifier: Apache-2.0
// What given weights predict for samples that have no label.
#pragma once

#include "tutti/data/image.h"
#include "tutti/recipe/job.h"
#include "tutti/train/replica.h"
#include "tutti/train/trained_network.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

// Predictions, with a row for each sample or for each of its tokens.
struct Predictions {
  std::int64_t samples = 0;
  std::int64_t outputs = 0;               // of a row: how many classes, or predicted numbers
  std::vector<double> values;             // rows × outputs: probabilities, or the numbers
  std::vector<std::int64_t> classes;      // the most probable one of each row; empty for regression
  std::vector<std::int64_t> tokens = {};  // rows of each sample; empty: one
};

class Predictor {
 public:
  // `weights` is NAME or NAME.safetensors. The job must outlive this object.
  Predictor(const Job& job, TrainedNetwork network, const std::string& weights);

  // `x` holds samples of the shape and scale that the network was trained on, one after the other.
  // Predicted numbers are in the unit of the targets.
  Predictions operator()(const std::vector<float>& x);
  // Predicts the samples of a data set, which has the fields that the network was trained on.
  Predictions operator()(const data::Dataset& dataset);

 private:
  Predictions nothing_yet(std::int64_t samples) const;
  // Turns logits into probabilities, and scaled numbers into the unit of the targets.
  void finish(Predictions& predictions) const;

  TrainedNetwork network_;
  std::int64_t batch_;
  Replica replica_;
};

// Images as samples for a Predictor: fitted to the shape and scaled as in training. Throws Error
// where the network was not trained on images with as many channels.
std::vector<float> samples_of(const Job& job, const TrainedNetwork& network,
                              const std::vector<data::Image>& images);

// How the data set of the job fits images to the shape of its samples.
data::Fit fit_of(const Job& job);

}  // namespace tutti
