// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/training_run.h"

namespace tutti {

std::string name_of(TrainSummary::Why why) {
  constexpr const char* names[] = {"steps", "epochs", "wall_time", "target", "patience", "signal"};
  return names[why];
}

int exit_code(const TrainSummary& summary) {
  return summary.why == TrainSummary::signal ? 128 + summary.signal_number : 0;
}

}  // namespace tutti
