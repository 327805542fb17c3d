// SPDX-License-Identifier: Apache-2.0
// A collective as data (P07): what each rank sends, receives and adds, phase by phase. An algorithm
// is a function that lists the actions of a rank; the same lists are run on any transport
// (run_schedule.h), priced (price.h) and checked by tests (walk.h).
#pragma once

#include "tutti/comm/part.h"

#include <cstdint>
#include <vector>

namespace tutti::collectives {

// One action of a rank. Elements are numbered through its vector and on through the schedule's
// scratch memory behind it.
struct Action {
  enum Kind {
    send,
    receive,
    receive_add,  // and add to what is there
    copy,         // from elsewhere in the own memory
    add
  };
  int phase = 0;
  Kind kind = send;
  int peer = -1;          // of a message
  Part segment = {};      // what is sent, or written
  std::int64_t from = 0;  // copy and add: the first element to read

  bool is_message() const { return kind <= receive_add; }
};

// All actions of one rank. The messages of a phase are under way together; when all have arrived,
// the additions and copies of the phase are done as they are listed, and the next phase begins.
// Messages from one rank to another are matched in the order in which both list them.
using Actions = std::vector<Action>;

// The sizes of a collective's task, the same on all ranks.
struct Problem {
  int ranks = 1;
  std::int64_t count = 0;  // elements of the vector
  DType dtype = DType::f32;
  int node_ranks = 1;  // consecutive ranks of one node
};

using Algorithm = Actions (*)(const Problem& problem, int rank);

// The actions of all ranks.
struct Schedule {
  Problem problem;
  std::vector<Actions> ranks;
};
inline Schedule schedule_of(Algorithm algorithm, const Problem& problem) {
  Schedule schedule{problem, {}};
  for (int rank = 0; rank < problem.ranks; ++rank)
    schedule.ranks.push_back(algorithm(problem, rank));
  return schedule;
}

// Lists the actions of a rank; next() begins the next phase of the list.
class Phases {
 public:
  void send(int to, Part segment) { add_action(Action::send, to, segment, 0); }
  void receive(int from, Part segment) { add_action(Action::receive, from, segment, 0); }
  void receive_add(int from, Part segment) { add_action(Action::receive_add, from, segment, 0); }
  void copy(std::int64_t from, Part to) { add_action(Action::copy, -1, to, from); }
  void add(std::int64_t from, Part to) { add_action(Action::add, -1, to, from); }
  void next() { ++phase_; }

  Actions actions;

 private:
  void add_action(Action::Kind kind, int peer, Part segment, std::int64_t from) {
    actions.push_back({phase_, kind, peer, segment, from});
  }
  int phase_ = 0;
};

// The ranks first, first + stride, …, known by their index. Algorithms work on rows, so that they
// can be combined.
struct RankRow {
  int first = 0, stride = 1, size = 1;
  int rank(int index) const { return first + index * stride; }
};

// The elements of parts [begin, end) of a vector that is cut evenly, unlike part.h at any element.
inline Part even_parts(std::int64_t count, int begin, int end, int parts) {
  return {count * begin / parts, count * end / parts};
}
inline Part even_part(std::int64_t count, int part, int parts) {
  return even_parts(count, part, part + 1, parts);
}

}  // namespace tutti::collectives
