// SPDX-License-Identifier: Apache-2.0
// One rank's copy of a network: its flat vectors and its programs (training, last batch,
// evaluation), compiled on first use and sharing parameters and one arena.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/cost/machine.h"
#include "tutti/exchange/blocks.h"
#include "tutti/exchange/close_step.h"
#include "tutti/exchange/factors.h"
#include "tutti/exec/program.h"
#include "tutti/kernels/kernel_table.h"
#include "tutti/kernels/selection.h"
#include "tutti/nn/net.h"
#include "tutti/passes/pass.h"
#include "tutti/passes/recompute.h"

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tutti {

// Memory against time: which activations are computed again, and what a rank may use in all.
struct MemoryOptions {
  std::string recompute = "none";  // none, every, root, slots, limit
  int every = 2;                   // cells of a run
  int slots = 4;                   // cells kept at any time
  std::int64_t limit_bytes = 0;    // of flat vectors and arena; 0: any
};

// What was decided for the training step.
struct MemoryReport {
  int cells = 0, recomputed = 0;
  double extra_work = 0;   // part of a step that is done again, estimated
  std::int64_t bytes = 0;  // flat vectors and arena
};

struct ReplicaOptions {
  std::function<Net(const NetInput&)> build;  // the network for a batch of a given size
  NetInput input;                             // shapes and type; the batch is set per program
  std::string backend = "cpu";
  Selection selection = {};
  int threads = 1;
  MemoryOptions memory = {};
  List<Rule> rules = tutti::rules();
  int extra_states = 0;           // state vectors beyond those of the rule, see Svrg
  StepClosing closing = {};       // closing.rule points into a list that outlives the replica;
                                  // rank and ranks are the communicator's
  std::set<std::string> without;  // passes to leave out
  Messages messages = {};         // communicator and how gradients travel
  Factors factors = Factors::when_faster;  // whether those of linear layers do so as factors
  std::int64_t batch = 0;                  // samples of the largest step; 0: not known
  // Seconds of a program's nodes, where time is virtual.
  std::function<std::vector<double>(const Program&)> seconds = {};
};

// A batch may be run in several passes, whose gradients add up; the last one exchanges and updates.
struct Accumulation {
  bool adds = false;   // to the gradients of earlier passes
  bool closes = true;  // the step
  auto operator<=>(const Accumulation&) const = default;
};

// Pointers to a rank's part of a batch, or of a pass of it, densely packed.
struct BatchPointers {
  std::int64_t samples = 0;  // over all ranks
  std::int64_t local = 0;    // of this rank
  const void* x = nullptr;
  const void* labels = nullptr;   // i32 labels, or targets
  const void* weights = nullptr;  // each sample's weight in the loss: 1 / samples for a mean
  Accumulation accumulation = {};
};

struct StepResult {
  double loss = 0;           // mean over the batch
  double metric = 0;         // part of right answers, or mean absolute error
  double gradient_norm = 0;  // after the exchange, before clipping
  bool complete = true;      // false: the update is left to the next step, the norm not yet known
  // The gradient was not finite and nothing was updated; only where the closing is guarded.
  bool skipped = false;
};

class Replica {
 public:
  explicit Replica(ReplicaOptions options);

  // `change` may change the initial weights and layer state, laid out whole by their tables, before
  // each rank takes its parts.
  void initialise(std::uint64_t seed,
                  const std::function<void(void* weights, void* layer_state)>& change = {});

  // Forward, backward, exchange and update; or a pass of that, whose loss and metric are then those
  // of the step so far. Throws Error naming the first operator whose result is
  // not finite; parameters are then as before the step, or nearly. With `may_leave` updates whose
  // sums are late may be left to the next step; whatever else needs them does the rest.
  StepResult step(const BatchPointers& batch, const StepState& state, Profile* profile = nullptr,
                  bool may_leave = false);
  // Does what is left of the last step's update.
  void finish_update() const;
  // The same in two halves: forward, backward and exchange at `weights`, with the whole gradient in
  // `gradients` and layer statistics in `layer_state` (all of them in device memory); then, of the
  // same batch, the update by what is in gradients(). The second result is complete.
  StepResult gradient(const BatchPointers& batch, const StepState& state, void* weights,
                      void* gradients, void* layer_state);
  StepResult update(const BatchPointers& batch, const StepState& state);
  // Throws Error naming the first operator whose result is not finite, after a step was skipped.
  [[noreturn]] void explain(const BatchPointers& batch, const StepState& state,
                            const StepResult& result);
  // Forward only, without random operators.
  StepResult evaluate(const BatchPointers& batch);
  // Forward only; copies the outputs (samples × output shape) to `outputs`. One rank.
  StepResult predict(const BatchPointers& batch, void* outputs);

  const RangeTable& table() const { return table_; }
  DType dtype() const { return options_.input.dtype; }
  int states() const { return static_cast<int>(states_.size()); }
  // The flat vectors, in device memory; of weights and gradients maybe this rank's own parts only.
  void* weights() const { return settled(weights_.get()); }
  void* gradients() const { return settled(gradients_.get()); }
  // The layer state s and its table. Ranks may have their own, see MeanLayerState.
  const RangeTable& layer_state_table() const { return layer_state_table_; }
  void* layer_state() const { return layer_state_.get(); }
  // The own one of every rank on rank 0, none elsewhere or where all have the same. Every rank
  // calls this.
  std::vector<Buffer> gather_layer_states() const;
  int rank() const { return options_.closing.rank; }
  int ranks() const { return options_.closing.ranks; }
  void* state(int k) const { return settled(states_[static_cast<std::size_t>(k)].get()); }
  // Linear layers whose gradients travel as factors in a usual step.
  const std::vector<LinearRange>& factored() const { return factored_; }
  // Of the state vectors, which may hold this rank's own parts only.
  const StateLayout& layout() const { return layout_; }
  // The weights, or the k-th state vector, laid out by the table, put together on rank 0 and empty
  // elsewhere. Every rank calls this.
  Buffer gather_weights() const;
  Buffer gather_state(int k) const;
  // Take this rank's parts. Every rank calls this.
  void set_weights(const Buffer& whole);
  void set_state(int k, const Buffer& whole);
  const KernelTable& kernels() const { return kernels_; }
  const Device& device() const { return *kernels_.device; }

  // The program for a training step or a pass of it, compiled if need be; for show, benches and
  // tests.
  Program& training_program(std::int64_t samples, std::int64_t local,
                            const Accumulation& accumulation = {});
  // The same to be looked at only: it gets no memory to run in.
  Program planned_program(std::int64_t samples, std::int64_t local,
                          const Accumulation& accumulation = {}) {
    return compile({true, samples, local, accumulation});
  }
  const std::vector<PassReport>& pass_reports() const { return reports_; }
  const MemoryReport& memory_report() const { return memory_report_; }
  // What was chosen by measurement, and what is to be chosen again; nullptr: none are kept.
  Choices* choices() const { return options_.selection.choices.get(); }
  // Bytes of the flat vectors of this rank: each of them, and all.
  std::int64_t weight_bytes() const { return weight_layout_.count * bytes_of(dtype()); }
  std::int64_t gradient_bytes() const { return gradient_layout_.count * bytes_of(dtype()); }
  // Gradients in bf16, as they travel where the exchange rounds them.
  std::int64_t rounded_bytes() const;
  std::int64_t vector_bytes() const;
  // Those and the arena of the programs so far.
  std::int64_t planned_bytes() const { return vector_bytes() + arena_bytes_; }

 private:
  friend class MeanLayerState;

  // What a program is compiled for.
  struct Purpose {
    bool training = true;
    std::int64_t samples = 0, local = 0;
    Accumulation accumulation = {};
    auto operator<=>(const Purpose&) const = default;
  };
  static Purpose training_of(const BatchPointers& batch) {
    return {true, batch.samples, batch.local, batch.accumulation};
  }
  // No rank reads the weights of this step any more: they may be changed where they are.
  void release_weights() const;
  void* settled(void* vector) const {
    finish_update();
    return vector;
  }
  Program& program(const Purpose& purpose);
  Program compile(const Purpose& purpose);
  // The passes from partition to memory; the graph is then as a program runs it.
  void finish(PassRunner& runner, Graph& graph, PassContext& context, const Purpose& purpose);
  // Times of nodes as calibrated on this machine, else the usual ones.
  NodeSeconds times() const;
  // What a rank keeps of a vector, as the functions of blocks.h say.
  using LayoutOf = StateLayout (*)(const RangeTable&, DType, const StepClosing&);
  Buffer gather(const void* vector, LayoutOf layout_of, bool in_parts) const;
  void set(void* vector, const StateLayout& layout, const Buffer& whole);
  Bases bases_for(const Program& program, const BatchPointers& batch);
  // Throws Error when this machine can't hold what is planned, of all ranks of this process.
  void require_memory() const;
  double read_result(std::int64_t offset_bytes, DType type) const;
  StepResult read_results(const Program& program, double loss_scale = 1) const;
  [[noreturn]] void diagnose(Program& program, const Bases& bases, const BatchPointers& batch,
                             const StepState& state, const StepResult& result);

  ReplicaOptions options_;
  KernelTable kernels_;
  std::optional<Machine> machine_;  // read when something is to be computed again
  RangeTable table_, layer_state_table_;
  bool state_per_rank_ = false;  // ranks, of which there are several, have their own layer state
  std::optional<FactorChoice> factors_;  // where there are several ranks
  std::vector<LinearRange> factored_;
  StateLayout layout_, weight_layout_, gradient_layout_;
  bool common_weights_ = false;  // all ranks have the same memory for them
  std::shared_ptr<std::byte> weights_, gradients_, rounded_, layer_state_, results_, arena_;
  std::vector<std::shared_ptr<std::byte>> states_;
  std::int64_t arena_bytes_ = 0;
  std::map<Purpose, Program> programs_;
  mutable Program* left_ = nullptr;  // the one that has left its update
  // Base::constants of programs, once they are made; none when the weights have changed.
  std::map<Purpose, std::shared_ptr<std::byte>> constants_;
  StepResult so_far_;  // of the passes of a step
  std::vector<PassReport> reports_;
  MemoryReport memory_report_;
};

// While one lives, a replica's layer state is the mean over ranks, as evaluation wants it; then its
// own again. Made by all ranks.
class MeanLayerState {
 public:
  explicit MeanLayerState(Replica& replica);
  MeanLayerState(const MeanLayerState&) = delete;
  MeanLayerState& operator=(const MeanLayerState&) = delete;
  ~MeanLayerState();

 private:
  Replica& replica_;
  Buffer own_;  // empty: all ranks have the same
};

}  // namespace tutti
