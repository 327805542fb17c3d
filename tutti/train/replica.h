// SPDX-License-Identifier: Apache-2.0
// One rank's copy of a network: its flat vectors and its programs (training, last batch,
// evaluation), compiled on first use and sharing parameters and one arena.
#pragma once

#include "tutti/compile/compile_step.h"
#include "tutti/core/field.h"
#include "tutti/exchange/stop_word.h"
#include "tutti/exec/program.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti {

// The spec of its steps, and what they run on.
struct ReplicaOptions : StepSpec {
  Communicator* communicator = nullptr;  // whose facts the spec gets; nullptr: one rank alone
  // Seconds of a step's nodes, where time is virtual.
  std::function<std::vector<double>(const CompiledStep&)> seconds = {};
};

// Pointers to a rank's part of a batch, or of a pass of it, densely packed.
struct BatchPointers {
  std::int64_t samples = 0;           // over all ranks
  std::int64_t local = 0;             // of this rank
  PerField<const void*> fields = {};  // of the network's batch, in its order; see Net::fields
  Accumulation accumulation = {};
};

using StopWord = std::array<std::int32_t, stop_word_length>;

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
  explicit Replica(const ReplicaOptions& options);

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
  // What the first rank says in the next step to all; and what all have heard in the last one that
  // exchanged.
  void tell(const StopWord& word);
  StopWord heard() const;
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

  const VectorPlan& vectors() const { return compiler_.vectors(); }
  const RangeTable& table() const { return vectors().table(); }
  DType dtype() const { return compiler_.spec().input.dtype; }
  int states() const { return static_cast<int>(states_.size()); }
  // The flat vectors, in device memory; of weights and gradients maybe this rank's own parts only.
  void* weights() const { return settled(weights_.get()); }
  void* gradients() const { return settled(gradients_.get()); }
  // The layer state s and its table. Ranks may have their own, see MeanLayerState.
  const RangeTable& layer_state_table() const { return vectors().layer_state_table(); }
  void* layer_state() const { return layer_state_.get(); }
  // The own one of every rank on rank 0, none elsewhere or where all have the same. Every rank
  // calls this.
  std::vector<Buffer> gather_layer_states() const;
  int rank() const { return closing().rank; }
  int ranks() const { return closing().ranks; }
  void* state(int k) const { return settled(states_[static_cast<std::size_t>(k)].get()); }
  // The weights, or the k-th state vector, laid out by the table, put together on rank 0 and empty
  // elsewhere. Every rank calls this.
  Buffer gather_weights() const;
  Buffer gather_state(int k) const;
  // Take this rank's parts. Every rank calls this.
  void set_weights(const Buffer& whole);
  void set_state(int k, const Buffer& whole);
  const KernelTable& kernels() const { return compiler_.kernels(); }
  const Device& device() const { return *kernels().device; }

  // The program for a training step or a pass of it, compiled if need be; for show, benches and
  // tests.
  Program& training_program(std::int64_t samples, std::int64_t local,
                            const Accumulation& accumulation = {});
  // The same to be looked at only: it gets no memory to run in.
  CompiledStep planned_step(std::int64_t samples, std::int64_t local,
                            const Accumulation& accumulation = {}) {
    return compile({true, samples, local, accumulation});
  }
  const std::vector<PassReport>& pass_reports() const { return reports_; }
  const MemoryReport& memory_report() const { return memory_report_; }
  // What was chosen by measurement, and what is to be chosen again; nullptr: none are kept.
  Choices* choices() const { return compiler_.spec().selection.choices.get(); }
  // Bytes of the flat vectors of this rank and of the arena of the programs so far.
  std::int64_t planned_bytes() const { return vectors().bytes() + arena_bytes_; }

 private:
  friend class MeanLayerState;

  const StepClosing& closing() const { return vectors().closing; }
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
  CompiledStep compile(const Purpose& purpose);
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

  StepCompiler compiler_;
  Communicator* communicator_;  // nullptr: one rank alone
  std::function<std::vector<double>(const CompiledStep&)> seconds_;
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
