// SPDX-License-Identifier: Apache-2.0
// Writes the record of a training run: settings and machine first, then steps, evaluations and
// checkpoints as they happen, a summary last. Every line has a "kind".
#pragma once

#include "tutti/core/record.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/replica.h"
#include "tutti/train/tracing.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <string>

namespace tutti {

// What the record says of a step.
struct StepReport {
  std::int64_t step = 0;  // updates done
  double epoch = 0;       // epochs done, parts included
  double seconds = 0;     // since the run began
  double loss = 0, accuracy = 0, absolute_error = 0, gradient_norm = 0, rate = 0;
  double loss_scale = 1;
  std::int64_t batch = 0;         // samples of the step, over all ranks
  double samples_per_second = 0;  // since the last report
  std::int64_t sent_bytes = 0;    // by rank 0 to others, in this step
};

class Journal {
 public:
  // Keeps no record.
  Journal() = default;
  // Begins a record, or appends to the record of the run that is resumed.
  Journal(const Job& job, bool resumed);

  void begin(const Job& job, const TrainOptions& options, const Replica& replica, int threads,
             std::int64_t training_samples, std::int64_t first_step);
  void remark(const std::string& text);
  void step(const StepReport& report);
  void evaluation(const StepReport& at, const Evaluation& evaluation);
  // Writes the confusion of classes in the last evaluation.
  void confusion(std::int64_t step, const Evaluation& evaluation);
  void skipped(std::int64_t step, double loss_scale, double next_loss_scale);
  void checkpoint(const StepReport& at, const std::string& path);
  void best(const StepReport& at, const std::string& path);
  void timeline(const Timeline& timeline);
  void failure(std::int64_t step, const std::string& message);
  void end(const TrainSummary& summary);

 private:
  RecordWriter writer_;
};

}  // namespace tutti
