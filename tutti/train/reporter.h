// SPDX-License-Identifier: Apache-2.0
// Times the steps on rank 0, keeps the record, shows progress, asks to stop by clock or signal, and
// writes checkpoints. On other ranks it only gives what a checkpoint needs.
#pragma once

#include "tutti/data/sampler.h"
#include "tutti/train/journal.h"
#include "tutti/train/replica.h"
#include "tutti/train/stop.h"
#include "tutti/train/training_run.h"
#include "tutti/train/watch.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tutti {

class Reporter {
 public:
  // Begins the record. `speaks` is true on rank 0. Everything given must outlive this object.
  Reporter(const TrainingRun& run, const Limits& limits, const data::Sampler& sampler,
           const Replica& replica, std::int64_t first_step, bool speaks);

  // A line for people and the record.
  void remark(const std::string& line);
  void begin_step();
  // `sent_bytes` counts what this rank has sent to others since training began.
  void end_step(std::int64_t step, std::int64_t samples, const StepResult& result,
                const StepState& state, std::int64_t sent_bytes);
  // Tells that the last step updated nothing: its gradient was not finite at this loss scale.
  void skipped(double loss_scale, double next_loss_scale);
  void evaluation(const Evaluation& evaluation);
  // What rank 0 asks all ranks for: to stop, by the clock or a signal, and a checkpoint when one is
  // due. Other ranks ask for nothing.
  Asked asked() const;
  // Whether the record has a line for the step.
  bool records(std::int64_t step) const { return step % log_every_ == 0; }
  // Writes what is due after the step that has ended last, once: lines of the record, of an epoch,
  // of progress. Where several steps end one after the other, end_step does so for all but the
  // last.
  void after_step(const Evaluation* evaluation);
  void timeline(const Timeline& timeline);
  // Writes a checkpoint. Every rank calls this; rank 0 writes. False: the recipe wants none.
  bool checkpoint(std::int64_t step, const std::map<std::string, std::string>& notes);
  // Writes the weights as the best so far. Every rank calls this; rank 0 writes.
  void best();
  void failure(std::int64_t step, const std::string& message);
  TrainSummary end(const Stop& stop, std::int64_t step, const std::optional<Evaluation>& evaluation,
                   const Watch& watch);

 private:
  // Sums over some steps, for means and speeds.
  struct Sums {
    double seconds = 0, samples = 0, loss = 0, accuracy = 0, absolute_error = 0;
    double speed() const { return seconds > 0 ? samples / seconds : 0; }
  };

  double now() const;                         // seconds since the run began
  double epochs_at(std::int64_t step) const;  // epochs done, parts included
  void print(const std::string& line) const;
  StepReport report(const Sums& sums) const;

  const TrainingRun& run_;
  const Limits& limits_;
  const data::Sampler& sampler_;
  const Replica& replica_;
  const bool speaks_;
  const std::int64_t first_step_, epochs_, log_every_;
  const double checkpoint_seconds_;
  // When things were done, in seconds since the run began; `began` itself on the clock.
  struct Times {
    double began = 0, step_began = 0, shown = 0, checkpointed = 0;
  };
  Times times_;
  Journal journal_;
  StepReport last_;
  bool last_is_written_ = true;  // what is due after the last step
  std::int64_t sent_bytes_ = 0;
  std::int64_t skipped_ = 0;   // steps of this run that changed nothing
  std::string best_path_;      // empty: none was kept since this run began or went on
  Sums all_, epoch_, logged_;  // over the run, the epoch, and since the last line of the record
};

}  // namespace tutti
