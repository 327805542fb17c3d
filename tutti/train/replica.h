// SPDX-License-Identifier: Apache-2.0
// One rank's copy of a network: its flat vectors and its programs (training, last batch,
// evaluation), compiled on first use and sharing parameters and one arena.
#pragma once

#include "tutti/compile/compile_step.h"
#include "tutti/core/field.h"
#include "tutti/core/staging.h"
#include "tutti/exchange/stop_word.h"
#include "tutti/exec/program.h"
#include "tutti/graph/carried.h"
#include "tutti/train/device_batch.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti {

// The spec of a replica's steps, and what the steps run on.
struct ReplicaOptions : StepSpec {
  Communicator* communicator = nullptr;  // gives the spec its facts; nullptr: one rank alone
  // Seconds of a step's nodes, where time is virtual; empty: time is real.
  std::function<std::vector<double>(const CompiledStep&)> seconds = {};
};

// Pointers to a rank's share of a batch, or of a micro-batch, densely packed.
struct BatchPointers {
  std::int64_t samples = 0;           // over all ranks
  std::int64_t local = 0;             // of this rank
  PerField<const void*> fields = {};  // of the network's batch, in its order; see Net::fields
  Accumulation accumulation = {};
  std::int64_t bucket = 0;  // room for tokens in each sample; 0: that of the planned network
};

using StopWord = std::array<std::int32_t, stop_word_length>;

struct StepResult {
  double loss = 0;           // mean over the batch
  double metric = 0;         // part of right answers, or mean absolute error
  double gradient_norm = 0;  // after the exchange, before clipping
  bool complete = true;  // false: some update is postponed to the next step, the norm is not known
  // The gradient was not finite and nothing was updated; only where the closing is guarded.
  bool skipped = false;
  // The first step whose loss or gradient was not finite; later steps have updated nothing. -1:
  // there was none.
  std::int64_t bad_step = -1;
  StopWord word = {};  // what the first rank told before the step
};

// Vectors in device memory that Replica::gradient works on instead of its own.
struct OtherVectors {
  void *weights = nullptr, *gradients = nullptr, *layer_state = nullptr;
};

// The error that tells of a bad step. `result` is that of the step; nullptr: it was not read.
// `culprit` is what Replica::first_not_finite says.
Error bad_step_error(std::int64_t step, const StepResult* result, const std::string& culprit);

class Replica {
 public:
  explicit Replica(const ReplicaOptions& options);

  // Makes initial weights and layer state. `change` may change them, laid out whole by their
  // tables, before each rank takes its parts.
  void initialise(std::uint64_t seed,
                  const std::function<void(void* weights, void* layer_state)>& change = {});

  // Runs a training step, or one micro-batch of it: forward, backward, exchange and update. From a
  // step whose loss is not finite on, nothing is updated, however late the host reads the result.
  // Where only a gradient is not finite, other blocks may still be updated in that step. With
  // `may_postpone`, updates whose sums are late may be postponed to the next step; all functions
  // that need the vectors before it finish these updates first.
  void run_step(const BatchPointers& batch, const StepState& state, Profile* profile = nullptr,
                bool may_postpone = false);
  // Begins to copy the result of the step or micro-batch that was run last to the host, so that the
  // host need not wait for the device. At most staging_slots results may be under way.
  void post_result();
  // Waits for the oldest result that was posted. After a micro-batch, loss and metric are those of
  // the step so far.
  StepResult take_result();
  // The result of the last step, at once; no posted result may be under way.
  StepResult result();
  // Runs a step and takes its result. Throws Error naming the first operator whose result is not
  // finite.
  StepResult step(const BatchPointers& batch, const StepState& state, Profile* profile = nullptr,
                  bool may_postpone = false);
  // Sets the stop word that the first rank tells all ranks in the next step; they find it in the
  // step's result.
  void tell(const StopWord& word);
  // Finishes the updates that the last step has postponed.
  void finish_update() const;
  // Runs forward and backward on the vectors `at`: writes this rank's gradient of the batch or,
  // with accumulation.adds, adds it to the gradient there. Nothing is exchanged.
  void gradient(BatchPointers batch, const StepState& state, const OtherVectors& at);
  // Runs a micro-batch again, on the present weights, and names the first value that is not finite:
  // "the result of matmul of fc1", or a field of the batch, or a parameter. "" where all is finite
  // on this rank. Every rank calls this.
  std::string first_not_finite(const BatchPointers& batch, const StepState& state);
  // Forward only, without random operators.
  StepResult evaluate(const BatchPointers& batch);
  // Forward only; copies the outputs of this rank's samples (samples × output shape) to `outputs`.
  StepResult predict(const BatchPointers& batch, void* outputs);

  const VectorPlan& plan() const { return compiler_.vectors(); }
  const RangeTable& table() const { return plan().table(); }
  const RangeTable& layer_state_table() const { return plan().layer_state_table(); }
  // The table of what streams carry from step to step.
  RangeTable carried_table() const { return tutti::carried_table(plan().net.graph); }
  DType dtype() const { return compiler_.spec().input.dtype; }
  int states() const { return plan().states; }
  int rank() const { return plan().closing.rank; }
  int ranks() const { return plan().closing.ranks; }
  bool fixed_order() const { return compiler_.spec().messages.fixed_order; }
  const KernelTable& kernels() const { return compiler_.kernels(); }
  const Device& device() const { return *kernels().device; }
  Communicator* communicator() const { return communicator_; }  // nullptr: one rank alone

  // The flat vectors, when the last update is done.
  const Vectors& vectors() const {
    finish_update();
    return vectors_;
  }
  // Vectors in device memory. A rank may hold only its own parts of weights, gradients and states.
  // Layer state may differ between ranks, see MeanLayerState.
  void* weights() const { return vectors()[Base::weights]; }
  void* gradients() const { return vectors()[Base::gradients]; }
  void* layer_state() const { return vectors_[Base::layer_state]; }
  void* state(int k) const { return vectors()[Base::optimizer + k]; }
  // The weights, or the k-th state vector, laid out by the table, put together on rank 0 and empty
  // elsewhere; the layer state of every rank, where ranks have their own. Every rank calls these.
  Buffer gather_weights() const { return vectors().gather(Base::weights); }
  Buffer gather_state(int k) const { return vectors().gather(Base::optimizer + k); }
  std::vector<Buffer> gather_layer_states() const;
  // What all streams carry, in the same way; empty where they carry nothing.
  Buffer gather_carried() const;
  // Take this rank's parts of a whole vector. Every rank calls these.
  void set_weights(const Buffer& whole);
  void set_state(int k, const Buffer& whole);
  void set_carried(const Buffer& whole);

  // The flat vectors, to be changed by callers that know what lies in them.
  Vectors& change_vectors();

  // The program for a training step or a micro-batch of it, compiled if need be; for show, benches
  // and tests.
  Program& training_program(std::int64_t samples, std::int64_t local,
                            const Accumulation& accumulation = {});
  // The step of that program, only to be looked at: it gets no memory to run in.
  CompiledStep planned_step(std::int64_t samples, std::int64_t local,
                            const Accumulation& accumulation = {}) {
    return compile({true, samples, local, accumulation});
  }
  const std::vector<PassReport>& pass_reports() const { return reports_; }
  const MemoryReport& memory_report() const { return memory_report_; }
  // The variants that were chosen, and those that a checkpoint asks for; nullptr: none are kept.
  Choices* choices() const { return compiler_.spec().selection.choices.get(); }
  // Bytes of the flat vectors of this rank and of the arena of the programs so far.
  std::int64_t planned_bytes() const { return plan().bytes() + arena_bytes_; }

 private:
  const StepClosing& closing() const { return plan().closing; }
  static Purpose training_of(const BatchPointers& batch) {
    return {true, batch.samples, batch.local, batch.accumulation, batch.bucket};
  }
  static Purpose forward_of(const BatchPointers& batch) {
    return {
        .training = false, .samples = batch.samples, .local = batch.local, .bucket = batch.bucket};
  }
  Program& program(const Purpose& purpose);
  CompiledStep compile(const Purpose& purpose);
  Bases bases_for(const Program& program, const BatchPointers& batch);
  // Throws Error when this machine can't hold the vectors and arenas of all ranks of this process.
  void require_memory() const;
  // Waits for the results of a program that was run: loss, metric, bad step, norm of the gradient.
  StepResult read_results(const Program& program) const;
  std::string not_finite_before_step(const Graph& graph, const Bases& bases) const;
  [[noreturn]] void explain(const BatchPointers& batch, const StepState& state,
                            const StepResult& result);

  StepCompiler compiler_;
  Communicator* communicator_;  // nullptr: one rank alone
  std::function<std::vector<double>(const CompiledStep&)> seconds_;
  Streams streams_;
  DeviceBatch batch_;
  Vectors vectors_;
  std::int64_t results_bytes_, arena_bytes_ = 0;
  DeviceMemory results_, arena_;
  Upload told_;
  mutable Download read_;
  std::map<Purpose, Program> programs_;
  mutable Program* postponed_ = nullptr;  // the program that has postponed updates
  // Memory of Base::constants, by program; dropped when the weights are set.
  std::map<Purpose, DeviceMemory> constants_;
  // What is needed to read a result.
  struct PendingResult {
    const Program* program = nullptr;
    double loss_scale = 1;
    bool adds = false;     // the result is not of the first micro-batch of a step
    bool complete = true;  // see StepResult
  };
  PendingResult last_;                 // for the step or micro-batch that was run last
  std::vector<PendingResult> posted_;  // for the results under way, the oldest first
  StepResult so_far_;                  // sums over the micro-batches of a step
  std::vector<PassReport> reports_;
  MemoryReport memory_report_;
};

}  // namespace tutti
