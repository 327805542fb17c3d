// SPDX-License-Identifier: Apache-2.0
// Watches the progress of training: which evaluation was the best, how many came since, and whether
// the loss has run away. Every rank has a watch, and all find the same.
#pragma once

#include "tutti/train/evaluate.h"

#include <cstdint>
#include <string>

namespace tutti {

class Watch {
 public:
  // `metric` is train.watch; `patience` counts evaluations, 0: any number. An Error says when the
  // data has no such metric.
  Watch(const std::string& metric, std::int64_t patience, bool classes);

  // Whether the best evaluation is to be kept; and whether there has been one.
  bool active() const { return metric_ != Metric::none; }
  bool has_best() const { return any_; }
  // Whether an evaluation is better than all before it. A value that is not finite never is.
  bool improves(const Evaluation& evaluation);
  // Whether as many evaluations as the patience allows were not better.
  bool exhausted() const { return patience_ > 0 && since_best_ >= patience_; }

  // Takes the loss of a step.
  void see(double loss);
  // Whether the loss has grown to much more than it was in the first steps.
  bool diverged() const;
  double first_loss() const { return first_loss_; }
  double recent_loss() const { return recent_loss_; }

  // A note for a checkpoint.
  std::string note() const;
  // Takes back such a note. The best value of another metric is not restored.
  void restore(const std::string& note);

 private:
  enum class Metric { none, accuracy, loss, absolute_error };

  Metric metric_;
  std::int64_t patience_;
  bool any_ = false;  // a finite evaluation was seen
  double best_ = 0;
  std::int64_t since_best_ = 0;
  std::int64_t losses_ = 0;  // how many were seen
  double first_loss_ = 0, recent_loss_ = 0;
};

}  // namespace tutti
