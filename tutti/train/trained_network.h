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
  std::int64_t classes = 0;  // that labels are below; 0: regression, there are targets
  std::vector<std::string> class_names = {};  // empty: classes have none but numbers
  data::Scaling scaling = {};                 // that inputs have been through
  data::Scaling target_scaling = {};          // that targets have been through; to be undone

  // Of the input, and of the targets where there are any.
  const Shape& sample_shape() const { return field_named(fields, "input").shape; }
  const Shape& target_shape() const { return field_named(fields, "targets").shape; }
};

// The metadata of every weights file of this job, whose training data it is given.
Metadata weights_metadata(const Job& job, const data::Dataset& training);

// In all of these `weights` is NAME or NAME.safetensors.

// The recipe in the file: [model] with its layers, [data] and train.dtype. None: it holds none, as
// files of other tools.
std::optional<Recipe> recipe_in(const std::string& weights);

// What the file says; none: nothing.
std::optional<TrainedNetwork> network_in(const std::string& weights);

// What the file says, or else the job's recipe and data set. An Error says when that would have to
// measure the scaling on data which the network need not have been trained on.
TrainedNetwork trained_network(const Job& job, const std::string& weights);

// The job with its data scaled and its classes ordered as in training, where the file says how.
Job scaled_as_trained(const Job& job, const std::string& weights);

// Throws Error unless the data has the classes of the network, where the file names them.
void require_trained_classes(const data::Dataset& dataset, const std::string& weights);

// Throws Error when the training data is scaled otherwise, or has other classes, than the file
// says: the data has changed.
void require_same_scaling(const Job& job, const data::Dataset& training,
                          const std::string& weights);

}  // namespace tutti
