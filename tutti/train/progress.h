// SPDX-License-Identifier: Apache-2.0
// What people see of training: a line that is rewritten all the time, with the time left, and one
// line per epoch that stays.
#pragma once

#include "tutti/train/evaluate.h"
#include "tutti/train/journal.h"
#include "tutti/train/stop.h"
#include "tutti/train/training_run.h"

#include <cstdint>
#include <string>

namespace tutti {

// "42 s", "3 min 05 s", "2 h 07 min".
std::string duration(double seconds);

// Seconds until training ends by its steps, epochs or wall time. `step` steps have been done, the
// last `done` of them by this process in `seconds`. Below 0: it can't be told.
double seconds_left(const Limits& limits, std::int64_t step, std::int64_t done, double seconds);

// "epoch 2.4/10  step 870  loss 0.1234  accuracy 96.2 %  10200 samples/s  42 s left"
std::string progress_line(const StepReport& report, std::int64_t epochs, bool classes, double left);

// "epoch 2/10  loss 0.1234  accuracy 96.2 %  test loss 0.1301  test accuracy 95.8 %  …"
std::string epoch_line(const StepReport& mean, std::int64_t epochs, bool classes,
                       const Evaluation* evaluation);

// How training ended and where its files are; a few lines.
std::string ending(const TrainSummary& summary, bool classes, const std::string& resume_command);

}  // namespace tutti
