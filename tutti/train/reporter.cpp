// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/reporter.h"

#include "tutti/core/clock.h"
#include "tutti/core/memory.h"
#include "tutti/train/progress.h"
#include "tutti/train/resume.h"
#include "tutti/train/run_folder.h"

namespace tutti {
namespace {

constexpr double seconds_between_lines = 0.2;

}  // namespace

Reporter::Reporter(const TrainingRun& run, const Limits& limits, const data::Sampler& sampler,
                   const Replica& replica, std::int64_t first_step, bool speaks)
    : run_(run),
      limits_(limits),
      sampler_(sampler),
      replica_(replica),
      speaks_(speaks),
      first_step_(first_step),
      epochs_(run.job.table("train").integer("epochs")),
      log_every_(run.job.table("train").integer("log_every")),
      checkpoint_seconds_(run.job.checkpoint_path().empty()
                              ? 0
                              : run.job.table("train").real("checkpoint_seconds")),
      journal_(speaks ? Journal(run.job, run.resume) : Journal()) {
  last_.step = first_step;
  if (!speaks) return;
  times_.began = now();
  journal_.begin(run.job, run.options, replica, run.threads, run.training.count, first_step);
  const Job& job = run.job;
  print(fmt::format("{}: {} on {}, {} parameters, {} samples, {} rank{} × {} thread{}", job.name,
                    job.recipe.layers.empty() ? job.model.name : "own layers", run.training.name,
                    replica.table().parameters(false), run.training.count, job.ranks(),
                    job.ranks() == 1 ? "" : "s", run.threads, run.threads == 1 ? "" : "s"));
  if (needs_folder(job)) print(fmt::format("files go to {}", job.folder));
  if (needs_folder(job)) point_latest_run_at(job.folder);
  if (first_step > 0) print(fmt::format("resumed at step {}", first_step));
  for (const std::string& line : job.remarks) remark(line);
}

double Reporter::now() const {
  return (run_.options.clock ? run_.options.clock() : steady_seconds()) - times_.began;
}

double Reporter::epochs_at(std::int64_t step) const {
  return static_cast<double>(sampler_.epoch(step)) +
         static_cast<double>(sampler_.position(step)) /
             static_cast<double>(sampler_.sampling().count);
}

void Reporter::print(const std::string& line) const {
  if (run_.options.print) run_.options.print(line);
}

void Reporter::remark(const std::string& line) {
  if (!speaks_) return;
  journal_.remark(line);
  print(line);
}

void Reporter::begin_step() {
  if (speaks_) times_.step_began = now();
}

void Reporter::end_step(std::int64_t step, std::int64_t samples, const StepResult& result,
                        const StepState& state, std::int64_t sent_bytes) {
  if (!speaks_) return;
  if (run_.options.beat) run_.options.beat();
  after_step(nullptr);
  last_is_written_ = false;
  last_ = {.step = step,
           .epoch = epochs_at(step),
           .seconds = now(),
           .loss = result.loss,
           .accuracy = run_.training.classes > 0 ? result.metric : 0,
           .absolute_error = run_.training.classes > 0 ? 0 : result.metric,
           .gradient_norm =
               result.skipped || !result.complete ? last_.gradient_norm : result.gradient_norm,
           .rate = state.rate,
           .loss_scale = state.loss_scale,
           .batch = samples,
           .sent_bytes = sent_bytes - sent_bytes_};
  sent_bytes_ = sent_bytes;
  const auto weight = static_cast<double>(samples);
  for (Sums* sums : {&all_, &epoch_, &logged_}) {
    sums->seconds += last_.seconds - times_.step_began;
    sums->samples += weight;
    sums->loss += last_.loss * weight;
    sums->accuracy += last_.accuracy * weight;
    sums->absolute_error += last_.absolute_error * weight;
  }
  times_.step_began = last_.seconds;
}

void Reporter::skipped(double loss_scale, double next_loss_scale) {
  if (!speaks_) return;
  ++skipped_;
  journal_.skipped(last_.step, loss_scale, next_loss_scale);
  print(fmt::format("step {}: the gradient is not finite at loss scale {}; left out, next {}",
                    last_.step, loss_scale, next_loss_scale));
}

void Reporter::evaluation(const Evaluation& evaluation) {
  if (speaks_) journal_.evaluation(last_, evaluation);
}

Asked Reporter::asked() const {
  if (!speaks_) return {};
  const int signal = run_.options.stop_signal ? run_.options.stop_signal() : 0;
  const double seconds = now();
  return {.stop = tutti::asked(limits_, seconds, signal),
          .checkpoint =
              checkpoint_seconds_ > 0 && seconds - times_.checkpointed >= checkpoint_seconds_};
}

// The report of the last step, with means over the steps in `sums`.
StepReport Reporter::report(const Sums& sums) const {
  StepReport mean = last_;
  mean.loss = sums.loss / sums.samples;
  mean.accuracy = sums.accuracy / sums.samples;
  mean.absolute_error = sums.absolute_error / sums.samples;
  mean.samples_per_second = sums.speed();
  return mean;
}

void Reporter::after_step(const Evaluation* evaluation) {
  if (!speaks_ || last_is_written_) return;
  last_is_written_ = true;
  const bool classes = run_.training.classes > 0;
  if (records(last_.step)) {
    last_.samples_per_second = logged_.speed();
    journal_.step(last_);
    logged_ = {};
  }
  if (sampler_.ends_epoch(last_.step)) {
    print(epoch_line(report(epoch_), epochs_, classes, evaluation));
    epoch_ = {};
  } else if (run_.options.progress && last_.seconds - times_.shown >= seconds_between_lines) {
    times_.shown = last_.seconds;
    const double left = seconds_left(limits_, last_.step, last_.step - first_step_, last_.seconds);
    run_.options.progress(progress_line(report(epoch_), epochs_, classes, left));
  }
}

bool Reporter::checkpoint(std::int64_t step, const std::map<std::string, std::string>& notes) {
  const std::string path = run_.job.checkpoint_path();
  if (path.empty()) return false;
  save(run_.job, replica_, run_.training, sampler_, step, speaks_, notes);
  if (!speaks_) return true;
  journal_.checkpoint(last_, path);
  times_.checkpointed = now();
  return true;
}

void Reporter::best() {
  const std::string path = run_.job.checkpoint_path();
  if (path.empty()) return;
  best_path_ = path + ".best";
  save_weights(run_.job, replica_, run_.training, best_path_, speaks_);
  if (speaks_) journal_.best(last_, best_path_);
}

void Reporter::timeline(const Timeline& timeline) {
  if (!speaks_) return;
  journal_.timeline(timeline);
  if (!run_.options.trace.empty())
    print(fmt::format("trace {} (open it in chrome://tracing or ui.perfetto.dev)",
                      run_.options.trace));
}

void Reporter::failure(std::int64_t step, const std::string& message) {
  if (!speaks_) return;
  try {
    journal_.failure(step, message);
  } catch (const Error&) {
    // The first error is the one to tell.
  }
}

TrainSummary Reporter::end(const Stop& stop, std::int64_t step,
                           const std::optional<Evaluation>& evaluation, const Watch& watch) {
  if (!speaks_) return {.why = stop.why, .signal_number = stop.signal};
  TrainSummary summary{.steps_done = step,
                       .epochs_done = sampler_.epoch(step),
                       .skipped_steps = skipped_,
                       .loss = last_.loss,
                       .accuracy = last_.accuracy,
                       .absolute_error = last_.absolute_error,
                       .seconds = now(),
                       .samples_per_second = all_.speed(),
                       .sent_bytes = sent_bytes_,
                       .memory = {replica_.planned_bytes() * run_.ranks_here(),
                                  peak_resident_bytes() - run_.resident_before},
                       .record_path = run_.job.record_path(),
                       .checkpoint_path = run_.job.checkpoint_path(),
                       .best_path = best_path_,
                       .diverged = watch.diverged(),
                       .why = stop.why,
                       .signal_number = stop.signal};
  if (evaluation) {
    summary.evaluated = true;
    summary.test_loss = evaluation->loss;
    summary.test_accuracy = evaluation->accuracy;
    summary.test_absolute_error = evaluation->absolute_error;
    if (evaluation->confusion.classes > 0) journal_.confusion(step, *evaluation);
  }
  if (summary.diverged)
    remark(
        fmt::format("the loss has diverged: {:.4g} in the first steps, {:.4g} at the end; lower "
                    "optimizer.rate, set optimizer.clip_norm or warm up",
                    watch.first_loss(), watch.recent_loss()));
  journal_.end(summary);
  const std::string go_on =
      stop.why == TrainSummary::signal && run_.options.resume_command
          ? run_.options.resume_command(needs_folder(run_.job) ? run_.job.folder : "")
          : "";
  print(ending(summary, run_.training.classes > 0, go_on));
  return summary;
}

}  // namespace tutti
