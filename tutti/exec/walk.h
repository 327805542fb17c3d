// SPDX-License-Identifier: Apache-2.0
// One rank's way through the instructions of its step. It can be interrupted anywhere: next() says
// what to do now, or what to wait for, and its driver does that, with kernels and messages or on a
// virtual clock. Which moves of the update are postponed from one step to the next is known here
// alone.
#pragma once

#include "tutti/exec/instructions.h"

#include <functional>
#include <optional>
#include <vector>

namespace tutti {

class Walk {
 public:
  // Whether the result of a message that is under way may be read.
  using IsReady = std::function<bool(int message)>;

  struct Next {
    enum Kind {
      compute,   // the node
      start,     // the message
      wait,      // for the message
      wait_any,  // until any message has got on, then ask again; the message is one of them
      end
    };
    Kind kind = end;
    int subject = 0;              // a node or a message
    bool complete = false;        // of a wait: until peers have done with its memory too
    bool of_step_before = false;  // it belongs to the step before, which has postponed it
  };

  // `instructions` must outlive the walk.
  explicit Walk(const Instructions& instructions);

  // Begins a run of the instructions of nodes [begin, end). A run up to the last node waits at its
  // end for every message. With `postpone`, and where the list allows it, moves that would have to
  // wait are left to the next run: then this returns true.
  bool begin(NodeId begin, NodeId end, bool postpone = false);
  // Begins a run that does what was postponed, and waits for every message.
  void begin_finish();
  // What to do now.
  Next next(const IsReady& is_ready);

  // Whether something of the update is still to be done.
  bool has_postponed() const { return postponed_count_ > 0; }

 private:
  bool need_not_wait(int move, const IsReady& is_ready) const;
  int first_unready(int move, const IsReady& is_ready) const;
  int ready_move(int place, const IsReady& is_ready) const;
  void enter(int move);
  void postpone_moves();
  bool comes_to_end();
  std::optional<Next> drain();
  std::optional<Next> take(const Instruction& now, const IsReady& is_ready);
  std::optional<Next> catch_up(int move, const IsReady& is_ready);

  const Instructions* all_;
  int place_ = 0, end_ = 0;
  // The move that is done out of its place (-1: none), and where to go on after it.
  int move_ = -1, back_ = 0;
  bool drains_ = false;          // at the end, every message is waited for
  bool postpones_ = false;       // the update of this run is postponed
  bool postponed_own_ = false;   // postponed moves are of this run, not of the one before
  std::vector<bool> postponed_;  // by move
  int postponed_count_ = 0;
  std::vector<bool> under_way_;  // by message: started and not yet waited for
};

}  // namespace tutti
