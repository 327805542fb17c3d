// SPDX-License-Identifier: Apache-2.0
// What a rank does in a step, as a list: compute a node, start a message, wait for one. The list
// says all: which waits there are, and which parts of the update may be done elsewhere. A Walk
// (walk.h) goes through it; the executor and the simulator both drive that, so what is simulated is
// what runs.
//
// The update is cut into `moves`: what computes a node of it or starts a message, with its waits.
// Where the update may cross the end of a step (C03), a move that was postponed in one run of the
// list is done in the next, at its `due` at the latest, or at once where the list says `look` and
// its sums are there.
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
    due,       // a move that the run before has postponed is done before this
    postpone,  // all that the run before has postponed is done: from here on moves of this run may
               // be postponed
    look,      // postponed moves of this run that need not wait are done here
  };
  Kind kind = compute;
  // Of a wait: until its result may be read, or until peers have done with its memory too.
  bool complete = false;
  int subject = 0;  // a node; of start and wait a message; of due a move
};

// A part of the update that may be done elsewhere than in its place.
struct Move {
  int begin = 0, end = 0;        // its instructions
  int earliest = 0;              // it may be done from this instruction of its own run on
  std::vector<int> behind = {};  // moves that go before it
};

struct Instructions {
  std::vector<Instruction> list;
  std::vector<int> places;    // by node: its first instruction; and where the update ends
  std::vector<NodeId> nodes;  // by message
  std::vector<int> numbers;   // by node: of the message that it is; -1: none
  std::vector<Move> moves;    // in their order; empty where the update is never postponed
  int first_update = 0;       // the instruction where the update begins
  int end = 0;                // behind it: what is waited for in a run that postpones it
  // A rank that must wait for a move does others first which need not wait.
  bool waits_usefully = false;

  bool may_postpone() const { return !moves.empty(); }
};

struct InstructionOptions {
  int first_update = 0;         // the node where the update begins
  bool overlap = true;          // false: messages are waited for where they start
  bool waits_usefully = false;  // see Instructions
};

// `late` says what of the update may be postponed.
Instructions instructions_of(const Graph& graph, const LateUpdates& late,
                             const InstructionOptions& options);

}  // namespace tutti
