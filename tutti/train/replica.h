// SPDX-License-Identifier: Apache-2.0
// One rank's copy of a network: its flat vectors and its programs (training, last batch,
// evaluation), compiled on first use and sharing parameters and one arena.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/cost/machine.h"
#include "tutti/exchange/blocks.h"
#include "tutti/exchange/close_step.h"
#include "tutti/exec/program.h"
#include "tutti/kernels/kernel.h"
#include "tutti/kernels/selection.h"
#include "tutti/nn/net.h"
#include "tutti/passes/pass.h"
#include "tutti/passes/recompute.h"

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
  std::string recompute = "none";  // none, every, root, limit
  int every = 2;                   // cells of a run
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
};

// Pointers to a rank's part of a batch, densely packed.
struct BatchPointers {
  std::int64_t samples = 0;  // of the whole batch, over all ranks
  std::int64_t local = 0;    // of this rank
  const void* x = nullptr;
  const void* labels = nullptr;   // i32 labels, or targets
  const void* weights = nullptr;  // each sample's weight in the loss: 1 / samples for a mean
};

struct StepResult {
  double loss = 0;           // mean over the batch
  double metric = 0;         // part of right answers, or mean absolute error
  double gradient_norm = 0;  // after the exchange, before clipping
  // The gradient was not finite and nothing was updated; only where the closing is guarded.
  bool skipped = false;
};

class Replica {
 public:
  explicit Replica(ReplicaOptions options);

  void initialise(std::uint64_t seed);

  // Forward, backward, exchange and update. Throws Error naming the first operator whose result is
  // not finite; parameters are then as before the step, or nearly.
  StepResult step(const BatchPointers& batch, const StepState& state, Profile* profile = nullptr);
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
  // The flat vectors, in device memory.
  void* weights() const { return weights_.get(); }
  void* gradients() const { return gradients_.get(); }
  // The layer state s and its table. Where ranks have their own, average_layer_state() replaces it
  // by the mean; to be called by all of them before it is used outside training.
  const RangeTable& layer_state_table() const { return layer_state_table_; }
  void* layer_state() const { return layer_state_.get(); }
  void average_layer_state();
  void* state(int k) const { return states_[static_cast<std::size_t>(k)].get(); }
  // Of the state vectors, which may hold this rank's own parts only.
  const StateLayout& layout() const { return layout_; }
  // The k-th state vector laid out by the table, put together on rank 0 and empty elsewhere. Every
  // rank calls this.
  Buffer gather_state(int k) const;
  // Takes this rank's parts of it.
  void set_state(int k, const Buffer& whole);
  const KernelTable& kernels() const { return kernels_; }

  // The program for a training step, compiled if need be; for show, benches and tests.
  Program& training_program(std::int64_t samples, std::int64_t local);
  const std::vector<PassReport>& pass_reports() const { return reports_; }
  const MemoryReport& memory_report() const { return memory_report_; }
  // Bytes of the flat vectors of this rank.
  std::int64_t vector_bytes() const;

 private:
  Program& program(bool training, std::int64_t samples, std::int64_t local);
  Program compile(bool training, std::int64_t samples, std::int64_t local);
  // The passes from partition to memory; the graph is then as a program runs it.
  void finish(PassRunner& runner, Graph& graph, PassContext& context, bool training,
              std::int64_t samples, std::int64_t local);
  // Times of nodes as calibrated on this machine, else the usual ones.
  NodeSeconds times() const;
  Bases bases_for(const Program& program, const BatchPointers& batch);
  double read_result(std::int64_t offset_bytes, DType type) const;
  StepResult read_results(const Program& program, double loss_scale = 1) const;
  [[noreturn]] void diagnose(Program& program, const Bases& bases, const BatchPointers& batch,
                             const StepState& state, const StepResult& result);

  ReplicaOptions options_;
  KernelTable kernels_;
  std::optional<Machine> machine_;  // read when something is to be computed again
  RangeTable table_, layer_state_table_;
  bool state_per_rank_ = false;
  StateLayout layout_;
  std::shared_ptr<std::byte> weights_, gradients_, layer_state_, results_, arena_;
  std::vector<std::shared_ptr<std::byte>> states_;
  std::int64_t arena_bytes_ = 0;
  std::map<std::tuple<bool, std::int64_t, std::int64_t>, Program> programs_;
  std::vector<PassReport> reports_;
  MemoryReport memory_report_;
};

}  // namespace tutti
