// SPDX-License-Identifier: Apache-2.0
// What a rank does in a step, as a list: compute a node, start a message, wait for one. The list
// also says which parts of the update may be done at other places. A Walk (walk.h) goes through it;
// the executor and the simulator both drive a Walk, so what is simulated is what runs.
//
// The update is cut into `moves`: each computes one node or starts one message, after its waits.
// Where the update may cross the end of a step (C03), all moves count as postponed from the
// instruction `postpone` on. A postponed move is done at a `look` of its own step, if its sums are
// there; else in the next step, at its `due` at the latest.
#pragma once

#include "tutti/exec/late_updates.h"
#include "tutti/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tutti {

struct Instruction {
  enum Kind : std::uint8_t {
    compute,   // a node
    start,     // a message
    wait,      // for a message
    due,       // a move that the step before has postponed is done here at the latest
    postpone,  // from here on the moves of this step may be postponed; those of the step before
               // are done
    look,      // postponed moves of this step that need not wait are done here
  };
  Kind kind = compute;
  // Of a wait. false: until the result may be read; true: until peers have done with its memory
  // too.
  bool complete = false;
  int subject = 0;  // a node; of start and wait a message; of due a move
};

// One node of the update and its waits, which may be done elsewhere than in their place.
struct Move {
  int begin = 0, end = 0;        // its instructions
  int earliest = 0;              // it may be done from this instruction of its own step on
  std::vector<int> behind = {};  // moves that must be done before it
};

struct Instructions {
  std::vector<Instruction> list;
  std::vector<int> places;    // by node: its first instruction; one entry more: `end`
  std::vector<NodeId> nodes;  // by message: its node
  std::vector<int> numbers;   // by node: the number of its message; -1: it is no message
  std::vector<Move> moves;    // in their order; empty where the update is never postponed
  int first_update = 0;       // the instruction where the update begins
  int end = 0;                // where it ends; behind are the waits of a step that postpones it
  // A rank that would have to wait for a move first does other moves that need not wait.
  bool waits_usefully = false;

  bool may_postpone() const { return !moves.empty(); }
};

struct InstructionOptions {
  int first_update = 0;         // the node where the update begins
  bool overlap = true;          // false: messages are waited for where they start
  bool waits_usefully = false;  // see Instructions
};

// The instructions of a graph; `late` says what of the update may be postponed.
Instructions instructions_of(const Graph& graph, const LateUpdates& late,
                             const InstructionOptions& options);

}  // namespace tutti
