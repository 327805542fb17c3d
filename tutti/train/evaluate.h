// SPDX-License-Identifier: Apache-2.0
// Loss and accuracy, or absolute error, of given weights over a data set.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/recipe/job.h"
#include "tutti/train/confusion.h"
#include "tutti/train/replica.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Evaluation {
  double loss = 0;            // mean over the samples, or tokens
  double accuracy = 0;        // part of right answers; 0 for regression
  double absolute_error = 0;  // mean over samples and targets; 0 for classes
  std::int64_t samples = 0;
  std::vector<std::string> class_names = {};  // or numbers, of each class; none for regression
  Confusion confusion = Confusion();          // counted where there are not too many classes
};

// Training counts the confusion of classes where there are at most this many.
constexpr std::int64_t most_classes_recorded = 100;

// The smallest batch from `wanted` on with which every rank has a sample in the last step of an
// epoch, too.
std::int64_t batch_for_ranks(std::int64_t wanted, std::int64_t count, int ranks);

// Evaluates the weights in the file `weights` (NAME or NAME.safetensors) on one rank. The data is
// scaled as it was in training, where the file says how.
Evaluation evaluate(const Job& job, const std::string& weights,
                    data::Split split = data::Split::test);

// Evaluates the replica's weights. Every rank of its communicator calls this and gets the result.
Evaluation evaluate(const Job& job, Replica& replica, const data::Dataset& dataset,
                    Communicator& communicator, std::int64_t most_classes = most_classes_recorded);

}  // namespace tutti
