// SPDX-License-Identifier: Apache-2.0
// The loop that is the meaning of training. Of the scheme's choices, the gate is asked before each
// step; the others are in the compiled step, which fills g, changes it by the local rule, exchanges
// and merges what the payload says as the codec encodes it, and applies the rule:
//   gate.wait → pull → run(program, batch) → rule.local → push, merge → rule.apply → stop?
// Rank 0 also speaks for the run: record, progress, checkpoints.
#include "tutti/train/worker.h"

#include "tutti/checkpoint/pretrained.h"
#include "tutti/core/rng.h"
#include "tutti/data/prefetch.h"
#include "tutti/optim/loss_scale.h"
#include "tutti/recipe/fault.h"
#include "tutti/train/bad_step.h"
#include "tutti/train/batch_pointers.h"
#include "tutti/train/block_size.h"
#include "tutti/train/caches.h"
#include "tutti/train/choices.h"
#include "tutti/train/layer_state.h"
#include "tutti/train/reading.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/reporter.h"
#include "tutti/train/resume.h"
#include "tutti/train/run_folder.h"
#include "tutti/train/run_sampler.h"
#include "tutti/train/same_job.h"
#include "tutti/train/stop.h"
#include "tutti/train/store_client.h"
#include "tutti/train/svrg.h"
#include "tutti/train/tracing.h"
#include "tutti/train/variance_batch.h"

#include <map>
#include <string>

namespace tutti {
namespace {

constexpr const char *loss_scale_note = "loss_scale", *choices_note = "choices",
                     *watch_note = "watch", *variance_note = "batch_from_variance";

ReplicaOptions options_for(const TrainingRun& run, Communicator& communicator) {
  const NetInput input = net_input(run.job, run.training);
  ReplicaOptions options = replica_options(run.job, input, run.threads, &communicator);
  if (run.job.table("exchange").integer("block_bytes") == 0)
    options.closing.scheme.block_bytes =
        common_block_bytes(run.job, input, run.threads, communicator);
  options.selection = agreed(options.selection, communicator);
  return options;
}

class Worker {
 public:
  Worker(const TrainingRun& run, Communicator& communicator)
      : run_(run),
        train_(run.job.table("train")),
        optimizer_(run.job.table("optimizer")),
        scheme_(run.job.scheme),
        exchange_(run.job.table("exchange")),
        communicator_(communicator),
        sampler_(sampler_of(run)),
        passes_(static_cast<int>(train_.integer("accumulate"))),
        limits_(limits_of(run.job, run.training, sampler_)),
        replica_(options_for(run, communicator)),
        loss_scale_(train_, run.job.table("kernels").text("precision")),
        watch_(train_.text("watch"), train_.integer("patience"), run.training.classes > 0),
        fault_(fault_named(run.job.table("machine").text("fault"))) {
    communicator.set_patience(exchange_.real("timeout"));
    require_samples_for_all();
    if (optimizer_.real("batch_from_variance") > 0)
      variance_.emplace(optimizer_, train_.integer("batch"), replica_, communicator);
    initialise();
    if (communicator.rank() == 0)
      for (const std::string& remark : cache_remarks()) remarks_.push_back(remark);
    if (run.resume) resume();
    if (run.job.local_rule.name == "svrg") svrg_.emplace(run, communicator, replica_);
    if (!scheme_.gate.meets) {
      store_.emplace(replica_, communicator);
      store_->load(step_);
    }
    tracing_.emplace(communicator, run.options.trace, run.options.trace_steps, step_,
                     limits_.total_steps());
  }

  TrainSummary train() {
    // Nothing is left that could keep the run from beginning.
    if (communicator_.rank() == 0 && run_.options.overwrite && !run_.resume)
      remove_results(run_.job);
    Reporter reporter(run_, limits_, sampler_, replica_, step_, communicator_.rank() == 0);
    for (const std::string& remark : remarks_) reporter.remark(remark);
    try {
      const Stop stop = loop(reporter);
      if (store_) store_->end();
      if (stop.why != TrainSummary::signal && !evaluation_)
        evaluation_ = evaluate(reporter, /*closing=*/true);
      return reporter.end(stop, step_, evaluation_, watch_);
    } catch (const Error& error) {
      std::string what = error.what();
      const bool of_a_peer = dynamic_cast<const Aborted*>(&error) != nullptr;
      if (in_step_ && watch_.diverged() && !of_a_peer) what = "the loss has diverged: " + what;
      if (const std::string saved = save_what_is_done(reporter); !saved.empty())
        what += "; " + saved;
      communicator_.abort(what);  // while what peers may be reading is still there
      reporter.failure(step_, what);
      if (what == error.what()) throw;  // it may be of another type
      throw Error("{}", what);
    }
  }

 private:
  void initialise() {
    const std::string& from = train_.text("from");
    if (from.empty() || run_.resume) return replica_.initialise(sampler_.sampling().seed);
    replica_.initialise(sampler_.sampling().seed, [&](void* weights, void* layer_state) {
      remarks_ = load_matching(
          from, replica_.dtype(),
          {{&replica_.table(), weights}, {&replica_.layer_state_table(), layer_state}});
    });
  }

  void resume() {
    const CheckpointState state = restore(run_.job, replica_, run_.training);
    step_ = state.step;
    if (state.layer_state_ranks > 0 && state.layer_state_ranks != communicator_.size())
      remarks_.push_back(fmt::format(
          "the checkpoint has the layer state of {} ranks: {} here with their mean",
          state.layer_state_ranks,
          communicator_.size() == 1 ? "the one rank begins"
                                    : fmt::format("each of the {} begins", communicator_.size())));
    if (const auto note = state.notes.find(loss_scale_note); note != state.notes.end())
      loss_scale_.restore(note->second);
    if (const auto note = state.notes.find(choices_note); note != state.notes.end())
      replica_.choices()->given = choices_in(note->second);
    if (const auto note = state.notes.find(variance_note); note != state.notes.end() && variance_)
      set_batches(variance_->restore(note->second));
    if (const auto note = state.notes.find(watch_note); note != state.notes.end())
      watch_.restore(note->second);
    if (std::string change = change_of_rate(run_.job, state); !change.empty())
      remarks_.push_back(std::move(change));
    saved_step_ = step_;
  }

  void set_batches(const std::vector<data::BatchChange>& changes) {
    data::Sampling sampling = sampler_.sampling();
    sampling.changes = changes;
    sampler_ = data::Sampler(sampling);
    limits_ = limits_of(run_.job, run_.training, sampler_);
  }

  // Whether the last step has shown that the next ones need a larger batch.
  bool change_batch(const StepResult& last, Reporter& reporter) {
    const auto batch = variance_->after_step(last, sampler_.batch(step_ - 1));
    if (!batch) return false;
    std::vector<data::BatchChange> changes = sampler_.sampling().changes;
    changes.push_back({step_, *batch});
    set_batches(changes);
    reporter.remark(fmt::format("step {}: {} samples a step from here on", step_, *batch));
    return true;
  }

  // What a checkpoint needs besides the flat vectors.
  std::map<std::string, std::string> notes() const {
    std::map<std::string, std::string> notes;
    if (loss_scale_.active()) notes[loss_scale_note] = loss_scale_.note();
    notes[watch_note] = watch_.note();
    const std::string choices = gather_choices(*replica_.choices(), communicator_);
    if (!choices.empty()) notes[choices_note] = choices;
    if (variance_) notes[variance_note] = variance_->note(sampler_.sampling().changes);
    return notes;
  }

  // What was done before a failure that left the weights as the last whole step made them. Several
  // ranks are within a step by then, each holding a part: their last checkpoint is what remains.
  std::string save_what_is_done(Reporter& reporter) {
    if (communicator_.size() > 1 || in_step_ || step_ == saved_step_) return "";
    try {
      return reporter.checkpoint(step_, notes())
                 ? fmt::format("the weights of step {} are in {}.safetensors", step_,
                               run_.job.checkpoint_path())
                 : "";
    } catch (const Error&) {
      return "";  // the first error is the one to tell
    }
  }

  // A rank without samples would have no program to run.
  void require_samples_for_all() const {
    const bool grows = !sampler_.sampling().changes.empty();
    const std::int64_t end = grows ? limits_.total_steps() : sampler_.steps_per_epoch();
    for (std::int64_t step = grows ? 0 : end - 1; step < end; ++step)
      if (const std::int64_t last = sampler_.batch(step); last < communicator_.size() * passes_)
        throw Error(
            "the last batch of an epoch has {} samples, expected at least one for each of {} "
            "ranks (partition.data){}; set train.last_batch = \"drop\", or another train.batch",
            last, communicator_.size(),
            passes_ == 1 ? "" : fmt::format(" and {} passes (train.accumulate)", passes_));
  }

  Stop loop(Reporter& reporter) {
    // Nothing is left to do when a finished run is resumed.
    if (const auto over = reached(limits_, step_, nullptr)) return *over;
    std::optional<data::Prefetch> prefetch;
    const std::int64_t checkpoint_every = train_.integer("checkpoint_every");
    // Ranks that share out parameters have none in common.
    const bool in_common = scheme_.gate.meets && !scheme_.store.keeps_parts;
    const std::int64_t verify = in_common ? exchange_.integer("verify") : 0;
    while (true) {
      wait_at_gate();
      check(scheme_.trigger.pull(exchange_, step_) && scheme_.trigger.push(exchange_, step_),
            "the compiled step fetches weights and exchanges gradients");
      tell(reporter);
      if (!prefetch) prefetch.emplace(run_.training, sampler_, reading());
      const StepResult result = one_step(*prefetch, reporter);
      if (variance_ && change_batch(result, reporter)) prefetch.reset();  // it has read ahead
      if (verify > 0 && step_ % verify == 0) require_same_weights(replica_, step_, communicator_);
      evaluation_.reset();
      const Asked asked = hear(reporter);
      bool met = false;
      if (evaluation_due()) {
        met = meet(met);
        evaluation_ = evaluate(reporter);
      }
      const Evaluation* latest = evaluation_ ? &*evaluation_ : nullptr;
      std::optional<Stop> stop = asked.stop;
      if (!stop && evaluation_ && watch_.exhausted()) stop = Stop{TrainSummary::patience};
      if (!stop || stop->why != TrainSummary::signal)
        if (const auto over = reached(limits_, step_, latest)) stop = over;
      if (stop) replica_.finish_update();
      if (const auto timeline = tracing_->end(step_ - 1, stop.has_value()))
        reporter.timeline(*timeline);
      reporter.after_step(latest);
      if (stop || asked.checkpoint || (checkpoint_every > 0 && step_ % checkpoint_every == 0)) {
        met = meet(met);
        communicator_.set_doing("writing the checkpoint");
        reporter.checkpoint(step_, notes());
        saved_step_ = step_;
      }
      // Nobody changes what others are still writing.
      if (met) communicator_.barrier();
      if (stop) return *stop;
    }
  }

  // What the first rank knows alone gets to all with the step.
  void tell(const Reporter& reporter) {
    if (store_)
      store_->ask(word_of(reporter.asked()));
    else if (communicator_.size() > 1)
      replica_.tell(word_of(reporter.asked()));
  }
  Asked hear(const Reporter& reporter) {
    if (store_) {
      const StoreWord heard = store_->hear();
      return heard.step == step_ ? asked_in(heard.word) : Asked{};
    }
    return communicator_.size() == 1 ? reporter.asked() : asked_in(replica_.heard());
  }

  // Ranks that go their own way come together; `met`: they have done so after this step.
  bool meet(bool met) {
    if (!store_) return false;
    if (!met) store_->fetch();
    return true;
  }

  // Collectives keep ranks at one clock.
  void wait_at_gate() const {
    check(scheme_.gate.may_begin(exchange_, {.own = step_, .slowest = step_}),
          "ranks that exchange in every step are never ahead");
  }

  data::PrefetchOptions reading() const {
    data::PrefetchOptions options = reading_of(run_.job, communicator_);
    options.passes = passes_;
    options.augmentation = data::augmentation_of(run_.job.table("data"));
    options.first_step = step_;
    if (const std::int64_t end = limits_.total_steps(); end > 0) options.end_step = end;
    return options;
  }

  StepResult one_step(data::Prefetch& prefetch, Reporter& reporter) {
    reporter.begin_step();
    StepState state = state_of(step_);
    // The record wants the norm of the gradient.
    const bool may_leave = !reporter.records(step_ + 1);
    StepResult result;
    Profile* profile = nullptr;
    std::int64_t own = 0;  // samples
    for (int pass = 0; pass < passes_; ++pass) {
      communicator_.set_doing("reading a batch");
      const data::Batch& batch = prefetch.next();
      if (pass == 0 && !run_.resume) fault_.strike(communicator_.rank(), step_);
      if (pass == 0) profile = tracing_->begin(step_);
      state.origins[StepState::samples] = batch.share.first;
      own += batch.count();
      in_step_ = true;
      result = run_pass(batch, state, profile, may_leave);
      if (pass + 1 == passes_ && !loss_scale_.after_step(!result.skipped)) explain(step_, result);
      if (variance_ && pass + 1 < passes_) variance_->after_pass(batch, state.loss_scale);
      prefetch.release();
    }
    if (store_) {
      result.loss *= static_cast<double>(sampler_.batch(step_)) / static_cast<double>(own);
      result.metric *= static_cast<double>(sampler_.batch(step_)) / static_cast<double>(own);
    }
    ++step_;
    in_step_ = false;
    if (!result.skipped) watch_.see(result.loss);
    reporter.end_step(step_, sampler_.batch(step_ - 1), result, state, communicator_.sent_bytes());
    for (const std::string& lacking : replica_.choices()->lacking)
      reporter.remark("the checkpoint's choice is not possible here, chosen anew: " + lacking);
    replica_.choices()->lacking.clear();
    if (result.skipped) reporter.skipped(state.loss_scale, loss_scale_.scale());
    return result;
  }

  StepState state_of(std::int64_t step) const {
    return {.step = step,
            .key = fold(fold(0, sampler_.sampling().seed), static_cast<std::uint64_t>(step)),
            .rate = rate_at(run_.job.schedule, optimizer_, step, limits_.total_steps(),
                            sampler_.sampling().batch),
            .loss_scale = loss_scale_.scale(),
            .skipped = loss_scale_.skipped()};
  }

  StepResult run_pass(const data::Batch& batch, const StepState& state, Profile* profile,
                      bool may_leave) {
    if (svrg_) svrg_->before_step(pointers_of(batch), state);
    replica_.run_step(pointers_of(batch), state, profile, may_leave);
    const StepResult result = replica_.result();
    if (result.bad_step >= 0) explain(result.bad_step, result);
    return result;
  }

  // `result` is of the last step that was run.
  [[noreturn]] void explain(std::int64_t bad_step, const StepResult& result) {
    explain_bad_step(replica_, run_.training, sampler_, reading(), state_of(bad_step),
                     bad_step == step_ ? &result : nullptr);
  }

  bool evaluation_due() const {
    const std::int64_t every = train_.integer("evaluate_every");
    return every > 0 && sampler_.ends_epoch(step_) && sampler_.epoch(step_) % every == 0;
  }

  // The closing evaluation is of no regular step, so that a run which goes on from here knows
  // nothing of it.
  std::optional<Evaluation> evaluate(Reporter& reporter, bool closing = false) {
    if (run_.test == nullptr) return std::nullopt;
    const Evaluation made = [&] {
      const MeanLayerState mean(replica_);
      return tutti::evaluate(run_.job, replica_, *run_.test, communicator_);
    }();
    reporter.evaluation(made);
    if (closing ? watch_.active() && !watch_.has_best() : watch_.improves(made)) reporter.best();
    return made;
  }

  const TrainingRun& run_;
  const Settings& train_;
  const Settings& optimizer_;
  const Scheme& scheme_;
  const Settings& exchange_;
  Communicator& communicator_;
  data::Sampler sampler_;
  const int passes_;  // of a step
  Limits limits_;
  Replica replica_;
  LossScale loss_scale_;
  Watch watch_;
  const Fault fault_;
  std::optional<Svrg> svrg_;
  std::optional<StoreClient> store_;  // where ranks do not meet
  std::optional<VarianceBatch> variance_;
  std::optional<Tracing> tracing_;
  std::vector<std::string> remarks_;      // on how the run began
  std::int64_t step_ = 0;                 // updates done
  std::int64_t saved_step_ = 0;           // those in the last checkpoint
  bool in_step_ = false;                  // the weights may be between two steps
  std::optional<Evaluation> evaluation_;  // of the weights as they are
};

}  // namespace

TrainSummary work(const TrainingRun& run, Communicator& communicator) {
  if (run.job.table("exchange").integer("verify") > 0) communicator.check_messages();
  return Worker(run, communicator).train();
}

}  // namespace tutti
