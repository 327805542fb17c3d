// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a simulated job (L12), at scripted messages and virtual times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sim {

struct Fault {
  enum Kind { drop, corrupt, duplicate, reorder, delay, cut, crash, hang };
  Kind kind = drop;
  int rank = 0;             // the rank that sends, crashes or hangs
  int to = 0;               // the receiver; a cut is both ways
  std::int64_t number = 1;  // which message from `rank` to `to`, counted from 1
  double seconds = 0;       // of the delay; else when it happens, on the virtual clock

  bool of_one_message() const { return kind <= delay; }
  bool has_seconds() const { return kind >= delay; }
  bool cuts(int a, int b) const {
    return kind == cut && ((a == rank && b == to) || (a == to && b == rank));
  }
};

// Faults in the form "drop 0 1 5; corrupt 0 1 7; duplicate 0 1 8; reorder 1 0 2; delay 1 0 3 0.5;
// cut 0 2 0.4; crash 2 0.8; hang 1 0.3". Throws Error on anything else.
std::vector<Fault> faults_named(const std::string& text);

}  // namespace tutti::sim
