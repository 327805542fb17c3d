// SPDX-License-Identifier: Apache-2.0
#include "cli/batches.h"

#include "cli/columns.h"
#include "tutti/cost/minibatch.h"
#include "tutti/cost/predict.h"

#include <fmt/format.h>

#include <optional>

namespace tutti::cli {

std::string batches_text(const StepCompiler& compiler, std::int64_t batch, int threads) {
  const std::optional<Machine> machine = known_machine();
  const Calibration* calibration = machine ? machine->with_threads(threads) : nullptr;
  std::vector<std::vector<std::string>> rows = {
      {"batch", "ms a step", "ms a sample", "steps", "samples", "seconds"}};
  for (std::int64_t b = 1; b <= 4 * batch; b *= 4) {
    const int steps = minibatch_steps(static_cast<double>(b));
    std::vector<std::string> row = {
        fmt::format("{}", b),         "-", "-", fmt::format("{}", steps),
        fmt::format("{}", steps * b), "-"};
    if (calibration != nullptr) {
      const double seconds = predict_step(compiler.compile({true, b, b}).step, *calibration).total;
      row[1] = fmt::format("{:.3g}", 1e3 * seconds);
      row[2] = fmt::format("{:.3g}", 1e3 * seconds / static_cast<double>(b));
      row[5] = fmt::format("{:.3g}", seconds * steps);
    }
    rows.push_back(std::move(row));
  }
  return in_columns(rows);
}

}  // namespace tutti::cli
