// SPDX-License-Identifier: Apache-2.0
// A compiled step with its kernels and messages made, which drives a walk through its instructions.
// It holds offsets only; base pointers come in a table when it runs, so weights, input slots and
// arena can be exchanged without a rebuild. Running allocates nothing of our own.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/exec/compiled_step.h"
#include "tutti/exec/step_states.h"
#include "tutti/exec/trace.h"
#include "tutti/exec/vectors.h"
#include "tutti/exec/walk.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// Seconds spent per node of a program, summed over runs.
struct Profile {
  std::vector<double> seconds;
  int runs = 0;
  TraceEvents* trace = nullptr;  // gets what was done when, on the clock of the rank
};

class Program {
 public:
  // `kernels` are those that the step was compiled for; a step with messages has a communicator.
  // Without streams in the context the program makes its own.
  Program(CompiledStep step, const KernelTable& kernels, const KernelContext& context,
          Communicator* communicator = nullptr);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Runs nodes [begin, end) in order. Messages started by one run may be waited for by a later one.
  // On a device with streams all is launched when this returns, but maybe not done.
  void run(const Bases& bases, const StepState& state, int begin, int end,
           Profile* profile = nullptr);
  void run(const Bases& bases, const StepState& state, Profile* profile = nullptr) {
    run(bases, state, 0, size(), profile);
  }

  // Runs a whole step. With `may_postpone`, and where the compiled step allows it, what would have
  // to wait of the update is postponed to the next step: then this returns true.
  bool step(const Bases& bases, const StepState& state, bool may_postpone,
            Profile* profile = nullptr);
  // Does what was postponed of the update, and waits for all messages that are under way.
  void finish();

  // Runs a whole step without ever waiting, so that one thread can go on with several programs:
  // begin() it, and call advance() until that returns true.
  void begin(const Bases& bases, const StepState& state);
  bool advance();

  // Seconds that each node takes where the communicator's clock is virtual.
  void set_seconds(const std::vector<double>& seconds);

  // Runs [begin, end) and looks at every output: the name of the first node that made a value that
  // is not finite, or "". Messages are left out, unless `all_ranks` call this together.
  std::string first_not_finite(const Bases& bases, const StepState& state, int begin, int end,
                               bool all_ranks = false);

  const CompiledStep& compiled() const { return compiled_; }
  const Graph& graph() const { return compiled_.graph; }
  const MemoryPlan& memory() const { return compiled_.memory; }
  int size() const { return compiled_.size(); }
  int first_update() const { return compiled_.first_update; }
  const std::string& implementation(int index) const { return compiled_.implementation(index); }

 private:
  // What carries out a node.
  struct Carrier {
    const char* name = nullptr;  // kept by the communicator, which tells it to peers that wait
    Kernel kernel;               // empty for views and messages
    std::unique_ptr<Operation> operation;  // of messages
    // An input that is not in its place is copied there first: all of the vector, or this rank's
    // part.
    std::int64_t copy_bytes = 0, copy_offset = 0;
    bool carries = false;                     // a message that has data: no barrier
    bool under_way = false;                   // of a message
    int urgency = 0;                          // likewise
    double seconds = 0;                       // to spend on a virtual clock
    double started = 0;                       // when the message was started
    std::size_t first_in = 0, first_out = 0;  // in pointers_
    std::size_t data = 0;                     // in pointers_: what the operation works on
    std::int64_t scratch_offset = -1;
  };

  void make_carrier(int node, const KernelTable& kernels, const KernelContext& context);
  Carrier& at(NodeId node) { return carriers_[static_cast<std::size_t>(node)]; }
  Carrier& of_message(int message) {
    return at(compiled_.instructions.nodes[static_cast<std::size_t>(message)]);
  }
  double now() const;
  void bind(const Bases& bases);
  void drive(const StepState* state, Profile* profile);
  void carry_out(const Walk::Next& next, const StepState* state, bool timed);
  void compute(Carrier& carrier, const StepState* state, bool timed);
  void start(Carrier& carrier);
  void advance_pending();
  bool is_over(const Walk::Next& wait);
  void wait_for(Carrier& carrier, bool complete);
  void wait_for_message(Carrier& carrier, bool complete);
  void finished(Carrier& carrier);
  void trace(const Carrier& carrier, TraceEvent::Stream stream, double started,
             const char* prefix = "");

  CompiledStep compiled_;
  std::shared_ptr<const Device> device_;
  Streams streams_;
  StepStates states_;
  Communicator* communicator_;
  std::vector<Carrier> carriers_;  // by node
  std::vector<void*> pointers_;    // of all nodes, inputs then outputs
  std::vector<Carrier*> pending_;  // messages under way, the most urgent first
  std::optional<Bases> bound_;     // the bases that pointers_ were made from
  Walk walk_;
  Walk::IsReady is_ready_;
  const StepState* postponed_state_ = nullptr;  // of the step that postponed its update
  const StepState* begun_state_ = nullptr;      // of the step that begin() began
  std::optional<Walk::Next> waited_ = {};       // the wait at which advance() has stopped
  TraceEvents* trace_ = nullptr;                // where the run under way is traced
};

}  // namespace tutti
