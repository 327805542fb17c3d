// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/progress.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tutti {
namespace {

std::string of_total(std::int64_t total) { return total > 0 ? fmt::format("/{}", total) : ""; }

// A loss that has run away takes no more room than others.
std::string number(double value) {
  return std::abs(value) < 1e5 ? fmt::format("{:.4f}", value) : fmt::format("{:.4e}", value);
}

// Loss and accuracy, or absolute error, of a StepReport or an Evaluation.
template <class Metrics>
std::string metrics(const char* prefix, const Metrics& of, bool classes) {
  if (classes)
    return fmt::format("  {0}loss {1}  {0}accuracy {2:.2f} %", prefix, number(of.loss),
                       100 * of.accuracy);
  return fmt::format("  {0}loss {1}  {0}absolute error {2}", prefix, number(of.loss),
                     number(of.absolute_error));
}

std::string why_text(const TrainSummary& summary) {
  switch (summary.why) {
    case TrainSummary::steps:
      return "all steps are done";
    case TrainSummary::epochs:
      return "all epochs are done";
    case TrainSummary::wall_time:
      return "the wall time is over";
    case TrainSummary::target:
      return "the target is reached";
    case TrainSummary::patience:
      return "the tests have stopped to improve (train.patience)";
    case TrainSummary::signal:
      return fmt::format("stopped by signal {} ({})", summary.signal_number,
                         ::strsignal(summary.signal_number));
  }
  return "";
}

}  // namespace

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(seconds, 0.0)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

double seconds_left(const Limits& limits, std::int64_t step, std::int64_t done, double seconds) {
  double left = -1;
  if (limits.total_steps() > 0 && done > 0)
    left = static_cast<double>(limits.total_steps() - step) * seconds / static_cast<double>(done);
  if (limits.wall_time > 0) {
    const double until = std::max(limits.wall_time - seconds, 0.0);
    left = left < 0 ? until : std::min(left, until);
  }
  return left;
}

std::string progress_line(const StepReport& report, std::int64_t epochs, bool classes,
                          double left) {
  std::string line =
      fmt::format("epoch {:.1f}{}  step {}", report.epoch, of_total(epochs), report.step);
  line += metrics("", report, classes);
  line += fmt::format("  {:.0f} samples/s", report.samples_per_second);
  return left < 0 ? line : line + fmt::format("  {} left", duration(left));
}

std::string epoch_line(const StepReport& mean, std::int64_t epochs, bool classes,
                       const Evaluation* evaluation) {
  std::string line = fmt::format("epoch {:.0f}{}", mean.epoch, of_total(epochs));
  line += metrics("", mean, classes);
  if (evaluation != nullptr) line += metrics("test ", *evaluation, classes);
  return line + fmt::format("  {:.0f} samples/s", mean.samples_per_second);
}

std::string ending(const TrainSummary& summary, bool classes, const std::string& resume_command) {
  std::string text = fmt::format("{} after {} steps, {:.1f} s, {:.0f} samples/s", why_text(summary),
                                 summary.steps_done, summary.seconds, summary.samples_per_second);
  if (summary.evaluated)
    text +=
        fmt::format("\n{}", classes ? fmt::format("test accuracy {:.2f} %, test loss {:.4f}",
                                                  100 * summary.test_accuracy, summary.test_loss)
                                    : fmt::format("test loss {:.6g}, test absolute error {:.6g}",
                                                  summary.test_loss, summary.test_absolute_error));
  if (!summary.checkpoint_path.empty())
    text += fmt::format("\ncheckpoint {}.safetensors", summary.checkpoint_path);
  if (!summary.best_path.empty())
    text += fmt::format("\nbest test {}.safetensors", summary.best_path);
  if (!summary.record_path.empty()) text += fmt::format("\nrecord {}", summary.record_path);
  if (!resume_command.empty() && !summary.checkpoint_path.empty())
    text += fmt::format("\nto go on: {}", resume_command);
  return text;
}

}  // namespace tutti
