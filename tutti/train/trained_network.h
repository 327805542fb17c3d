// SPDX-License-Identifier: Apache-2.0
// What a weights file says about its network, in the metadata of NAME.safetensors: the model with
// its settings, the shape of its inputs, its classes and how numbers were scaled. So the file is
// enough to use the network, wherever recipe and data are. All values are texts that other tools
// ignore; none depends on time, host or transport.
#pragma once

#include "tutti/checkpoint/safetensors.h"
#include "tutti/core/field.h"
#include "tutti/recipe/job.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// What is needed to make samples for a network, and to say what its outputs mean.
struct TrainedNetwork {
  Fields fields;             // of a sample, as the data set had them
  std::int64_t classes = 0;  // labels are below this number; 0: regression, there are targets
  std::vector<std::string> class_names = {};  // empty: classes have only numbers
  data::Scaling scaling = {};                 // of inputs, as in training
  data::Scaling target_scaling = {};          // of targets, as in training; undone in predictions

  // The shapes of the input, and of the targets where there are any.
  const Shape& sample_shape() const { return field_named(fields, "input").shape; }
  const Shape& target_shape() const { return field_named(fields, "targets").shape; }
};

// The metadata of every weights file of this job; `training` is the job's training data.
Metadata weights_metadata(const Job& job, const data::Dataset& training);

// In all of these `weights` is NAME or NAME.safetensors.

// The recipe in the file: [model] with its layers, [data] and train.dtype. Nothing: the file holds
// no recipe, as files of other tools.
std::optional<Recipe> recipe_in(const std::string& weights);

// The network as the file describes it; nothing: the file does not.
std::optional<TrainedNetwork> network_in(const std::string& weights);

// The network as the file describes it, or else the job's recipe and data set. Throws Error where
// the scaling would have to be measured on data that the network may not have been trained on.
TrainedNetwork trained_network(const Job& job, const std::string& weights);

// The job with its data scaled and its classes ordered as in training, where the file says how.
Job scaled_as_trained(const Job& job, const std::string& weights);

// Throws Error unless the data has the classes of the network, where the file names them.
void require_trained_classes(const data::Dataset& dataset, const std::string& weights);

// Throws Error when the scaling or the classes of the training data are not those of the file: the
// data has changed.
void require_same_scaling(const Job& job, const data::Dataset& training,
                          const std::string& weights);

}  // namespace tutti
