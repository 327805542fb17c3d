// SPDX-License-Identifier: Apache-2.0
// A graph compiled for one rank and one back end: kernels made, memory planned, messages prepared.
// It holds offsets only; base pointers come in a table when it runs, so weights, input slots and
// arena can be exchanged without a rebuild. Running allocates nothing, looks up no name and takes
// no lock.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/exec/compiled_step.h"
#include "tutti/exec/trace.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// Pointers by Base; Base::inputs + k for the k-th input of the batch.
struct Bases {
  std::array<std::byte*, Base::inputs + 3> pointers = {};
  std::byte*& operator[](int base) { return pointers[static_cast<std::size_t>(base)]; }
  std::byte* operator[](int base) const { return pointers[static_cast<std::size_t>(base)]; }
  bool operator==(const Bases&) const = default;
};

// Seconds spent per step of a program, summed over runs.
struct Profile {
  std::vector<double> seconds;
  int runs = 0;
  TraceEvents* trace = nullptr;  // gets what was done when, on the steady clock
};

class Program {
 public:
  // `kernels` are those that the step was compiled for; a step with messages has a communicator.
  Program(CompiledStep step, const KernelTable& kernels, const KernelContext& context,
          Communicator* communicator = nullptr);

  // Steps [begin, end) in order. Messages started by a part may be waited for by a later one.
  void run(const Bases& bases, const StepState& step, int begin, int end,
           Profile* profile = nullptr);
  void run(const Bases& bases, const StepState& step, Profile* profile = nullptr) {
    run(bases, step, 0, size(), profile);
  }

  // In place of running the update, when the steps before update_from() have been run: leaves it to
  // the steps from there on, to the next run, which does it bit by bit before it needs what
  // changes, or to finish(). False: it can't be left, run it.
  bool leave_update(const StepState& step);

  // What each step takes where the communicator's clock is virtual.
  void set_seconds(const std::vector<double>& seconds);

  // Waits for the message that makes `value`, if one is under way.
  void finish(ValueId value);
  // Does what is left of the update and waits for all that is under way.
  void finish();

  // Runs [begin, end) and looks at every output: the name of the first step that made a value that
  // is not finite, or "". Messages are left out, unless all ranks take part.
  std::string first_not_finite(const Bases& bases, const StepState& step, int begin, int end,
                               bool all_ranks = false);

  const CompiledStep& compiled() const { return compiled_; }
  const Graph& graph() const { return compiled_.graph; }
  const MemoryPlan& memory() const { return compiled_.memory; }
  int size() const { return compiled_.size(); }
  int first_update() const { return compiled_.first_update; }
  int update_from() const { return compiled_.update_from(); }
  const std::string& implementation(int index) const { return compiled_.implementation(index); }

 private:
  struct Step {
    const char* name = nullptr;            // kept by the communicator, which tells peers
    Kernel kernel;                         // empty for views and messages
    std::unique_ptr<Operation> operation;  // of messages
    // What is not in place is copied first: all of it, or this rank's part.
    std::int64_t copy_bytes = 0, copy_offset = 0;
    // The data lies in the arena, where something else follows: whoever reads the result waits
    // until peers have done with it.
    bool leaves_arena = false;
    bool under_way = false;
    bool left = false;                        // to be done later in this run, or in the next
    int urgency = 0;                          // of a message
    double seconds = 0;                       // to spend on a virtual clock
    double started = 0;                       // of a message
    std::size_t first_in = 0, first_out = 0;  // in pointers_
    std::size_t data = 0;                     // in pointers_: what the operation works on
    std::int64_t scratch_offset = -1;
    std::vector<Step*> waits;  // messages whose results must be there before this runs
    // Of the run before, where its update was left, see LateUpdates.
    std::vector<Step*> late, late_results, over;
    std::vector<Step*> early;   // of the update of this run: from here on they could be done
    std::vector<Step*> behind;  // steps of the same update that go before this one
  };
  void link_late_updates();
  double now() const;
  void bind(const Bases& bases);
  void execute(Step& step, const StepState& state, Profile* profile);
  void catch_up(const Step& step, Profile* profile);
  void do_early(const Step& step, Profile* profile);
  void wait_usefully(Step& left, Profile* profile);
  void do_left(Step& step, Profile* profile);
  void do_all_that_is_left();
  void clear_arena();
  bool need_not_wait(const Step& step) const;
  void start(Step& step);
  void advance_pending();
  void wait_for(Step& step);
  void await_result(Step& step);  // it may still be read by peers
  void finished(Step& step);
  void trace(const Step& step, TraceEvent::Stream stream, double started, const char* prefix = "");

  CompiledStep compiled_;
  const Device* device_;
  Communicator* communicator_;
  std::vector<Step> steps_;
  std::vector<void*> pointers_;   // of all steps, inputs then outputs
  std::vector<Step*> pending_;    // messages under way, in order of start
  std::optional<Bases> bound_;    // the bases that pointers_ were made from
  int left_ = 0;                  // how many steps of the update
  bool leaves_ = false;           // they are of the run under way
  StepState left_state_;          // of the run that left them
  std::vector<Step*> early_;      // those of them that could be done by now
  TraceEvents* trace_ = nullptr;  // of the run under way
};

}  // namespace tutti
