// SPDX-License-Identifier: Apache-2.0
// The training loop of a rank. The gate is asked before each step; everything else of the scheme is
// in the compiled step, from pulling weights to the update:
//   gate.wait → pull → run(program, batch) → rule.local → push, merge → rule.apply → stop?
// The host may read the result of a step after it has launched later steps. Before anything that
// needs weights or results, it ends all launched steps. Rank 0 also reports and writes checkpoints.
#include "tutti/train/worker.h"

#include "tutti/checkpoint/pretrained.h"
#include "tutti/train/block_size.h"
#include "tutti/train/caches.h"
#include "tutti/train/choices.h"
#include "tutti/train/layer_state.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/reporter.h"
#include "tutti/train/resume.h"
#include "tutti/train/run_folder.h"
#include "tutti/train/run_sampler.h"
#include "tutti/train/same_job.h"
#include "tutti/train/step_runner.h"
#include "tutti/train/store_client.h"
#include "tutti/train/tracing.h"

#include <map>
#include <string>
#include <utility>

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
        scheme_(run.job.scheme),
        exchange_(run.job.table("exchange")),
        communicator_(communicator),
        sampler_(sampler_of(run)),
        limits_(limits_of(run.job, run.training, sampler_)),
        replica_(options_for(run, communicator)),
        steps_(run, communicator, replica_, sampler_, limits_),
        watch_(train_.text("watch"), train_.integer("patience"), run.training.classes > 0) {
    communicator.set_patience(exchange_.real("timeout"));
    require_samples_for_all();
    initialise();
    if (communicator.rank() == 0)
      for (const std::string& remark : cache_remarks()) remarks_.push_back(remark);
    if (run.resume) resume();
    steps_.begin();
    if (!scheme_.gate.meets) {
      store_.emplace(replica_, communicator);
      store_->load(step_);
    }
    tracing_.emplace(communicator, run.options.trace, run.options.trace_steps, step_,
                     limits_.total_steps());
  }

  TrainSummary train() {
    // Nothing can keep training from beginning any more.
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
      communicator_.abort(what);  // while the memory that peers may be reading is still there
      reporter.failure(ended_, what);
      if (what == error.what()) throw;  // keeps the type of the error
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
      steps_.loss_scale().restore(note->second);
    if (const auto note = state.notes.find(choices_note); note != state.notes.end())
      replica_.choices()->given = choices_in(note->second);
    if (const auto note = state.notes.find(variance_note);
        note != state.notes.end() && steps_.variance())
      set_batches(steps_.variance()->restore(note->second));
    if (const auto note = state.notes.find(watch_note); note != state.notes.end())
      watch_.restore(note->second);
    if (std::string change = change_of_rate(run_.job, state); !change.empty())
      remarks_.push_back(std::move(change));
    saved_step_ = ended_ = step_;
  }

  void set_batches(const std::vector<data::BatchChange>& changes) {
    data::Sampling sampling = sampler_.sampling();
    sampling.changes = changes;
    sampler_ = data::Sampler(sampling);
    limits_ = limits_of(run_.job, run_.training, sampler_);
  }

  // Changes the batch where the last step has shown that the next steps need a larger one. Returns
  // whether it did.
  bool change_batch(Reporter& reporter) {
    if (!steps_.variance()) return false;
    const auto batch = steps_.variance()->after_step(last_.result, last_.samples);
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
    if (steps_.loss_scale().active()) notes[loss_scale_note] = steps_.loss_scale().note();
    notes[watch_note] = watch_.note();
    const std::string choices = gather_choices(*replica_.choices(), communicator_);
    if (!choices.empty()) notes[choices_note] = choices;
    if (steps_.variance())
      notes[variance_note] = steps_.variance()->note(sampler_.sampling().changes);
    return notes;
  }

  // Writes a checkpoint after a failure that left the weights as the last whole step made them, and
  // returns a text that says so; empty: nothing was written. Several ranks are within a step by
  // then, so only their last checkpoint remains.
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
    const std::int64_t micro_batches = train_.integer("accumulate");
    for (std::int64_t step = grows ? 0 : end - 1; step < end; ++step)
      if (const std::int64_t last = sampler_.batch(step);
          last < communicator_.size() * micro_batches)
        throw Error(
            "the last batch of an epoch has {} samples, expected at least one for each of {} "
            "ranks (partition.data){}; set train.last_batch = \"drop\", or another train.batch",
            last, communicator_.size(),
            micro_batches == 1
                ? ""
                : fmt::format(" and {} micro-batches (train.accumulate)", micro_batches));
  }

  Stop loop(Reporter& reporter) {
    // A finished run that is resumed has nothing left to do.
    if (const auto over = reached(limits_, step_, nullptr)) return *over;
    std::optional<data::Prefetch> prefetch;
    const std::int64_t checkpoint_every = train_.integer("checkpoint_every");
    // Ranks that keep only their own parts of the weights have no equal weights to compare.
    const bool in_common = scheme_.gate.meets && !scheme_.store.keeps_parts;
    const std::int64_t verify = in_common ? exchange_.integer("verify") : 0;
    while (true) {
      wait_at_gate();
      check(scheme_.trigger.pull(exchange_, step_) && scheme_.trigger.push(exchange_, step_),
            "the compiled step fetches weights and exchanges gradients");
      tell(reporter);
      if (!prefetch) prefetch.emplace(run_.training, sampler_, steps_.reading(step_));
      begin_step(*prefetch, reporter);
      const bool checkpoint_due = checkpoint_every > 0 && step_ % checkpoint_every == 0;
      const bool verify_due = verify > 0 && step_ % verify == 0;
      const bool over_soon = reached(limits_, step_, nullptr).has_value();
      const bool needs_all = checkpoint_due || verify_due || evaluation_due() || over_soon;
      end_steps(needs_all ? 0 : steps_.lag(), reporter);
      if (steps_.lag() == 0 && change_batch(reporter)) prefetch.reset();  // it has read ahead
      if (verify_due) require_same_weights(replica_, step_, communicator_);
      evaluation_.reset();
      Asked asked = hear(reporter);
      if ((asked.stop || asked.checkpoint) && steps_.under_way() > 0) {
        end_steps(0, reporter);
        asked = both(asked, hear(reporter));
      }
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
      if (stop || asked.checkpoint || checkpoint_due) {
        met = meet(met);
        communicator_.set_doing("writing the checkpoint");
        reporter.checkpoint(step_, notes());
        saved_step_ = step_;
      }
      // No rank goes on while others evaluate or write.
      if (met) communicator_.barrier();
      if (stop) return *stop;
    }
  }

  void begin_step(data::Prefetch& prefetch, Reporter& reporter) {
    if (steps_.under_way() == 0) reporter.begin_step();
    // The record needs the norm of the gradient, which is known when all updates are done.
    const bool may_postpone = !reporter.records(step_ + 1);
    steps_.run(step_, prefetch, may_postpone, [this] {
      in_step_ = true;
      return tracing_->begin(step_);
    });
    ++step_;
  }

  // Reads the results of all steps but the last `later`.
  void end_steps(std::size_t later, Reporter& reporter) {
    while (steps_.under_way() > later) {
      last_ = steps_.end_oldest();
      ended_ = last_.number + 1;
      const StepResult& result = last_.result;
      heard_ = both(heard_, asked_in(result.word));
      if (!result.skipped) watch_.see(result.loss);
      reporter.end_step(ended_, last_.samples, result, last_.state, last_.sent_bytes);
      for (const std::string& lacking : replica_.choices()->lacking)
        reporter.remark("the checkpoint's choice is not possible here, chosen anew: " + lacking);
      replica_.choices()->lacking.clear();
      if (result.skipped) reporter.skipped(last_.state.loss_scale, steps_.loss_scale().scale());
    }
    in_step_ = steps_.under_way() > 0;
  }

  // The first rank tells all ranks, by a message of the step, what only it knows.
  void tell(const Reporter& reporter) {
    if (store_)
      store_->ask(word_of(reporter.asked()));
    else if (communicator_.size() > 1)
      replica_.tell(word_of(reporter.asked()));
  }
  // What the first rank has told in the results that were read since the last call. All ranks have
  // read the same results.
  Asked hear(const Reporter& reporter) {
    if (store_) {
      const StoreWord heard = store_->hear();
      return heard.step == step_ ? asked_in(heard.word) : Asked{};
    }
    if (communicator_.size() == 1) return reporter.asked();
    return std::exchange(heard_, {});
  }

  // Brings ranks that do not meet in a step together, unless they have `met` after this step
  // already. Returns whether they are such ranks.
  bool meet(bool met) {
    if (!store_) return false;
    if (!met) store_->fetch();
    return true;
  }

  // Collectives keep all ranks at the same step.
  void wait_at_gate() const {
    check(scheme_.gate.may_begin(exchange_, {.own = step_, .slowest = step_}),
          "ranks that exchange in every step are never ahead");
  }

  bool evaluation_due() const {
    const std::int64_t every = train_.integer("evaluate_every");
    return every > 0 && sampler_.ends_epoch(step_) && sampler_.epoch(step_) % every == 0;
  }

  // Evaluates on the test data. The closing evaluation comes after a step that is not due for one,
  // so the watch does not count it: a resumed run would not have it.
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
  const Scheme& scheme_;
  const Settings& exchange_;
  Communicator& communicator_;
  data::Sampler sampler_;
  Limits limits_;
  Replica replica_;
  StepRunner steps_;
  Watch watch_;
  std::optional<StoreClient> store_;  // where ranks do not meet
  std::optional<Tracing> tracing_;
  std::vector<std::string> remarks_;      // on how the run began
  std::int64_t step_ = 0;                 // steps that were launched, with those before a resume
  std::int64_t ended_ = 0;                // steps whose results were read
  std::int64_t saved_step_ = 0;           // steps done in the last checkpoint
  bool in_step_ = false;                  // a step is under way: weights may be partly updated
  EndedStep last_;                        // the step whose result was read last
  Asked heard_;                           // what results have told and is not yet done
  std::optional<Evaluation> evaluation_;  // of the weights as they are
};

}  // namespace

TrainSummary work(const TrainingRun& run, Communicator& communicator) {
  if (run.job.table("exchange").integer("verify") > 0) communicator.check_messages();
  return Worker(run, communicator).train();
}

}  // namespace tutti
