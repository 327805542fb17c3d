// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a simulated job (L12), at scripted messages and virtual times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::sim {

struct Fault {
  enum Kind { drop, delay, crash, hang };
  Kind kind = drop;
  int rank = 0;  // that sends, crashes or hangs
  int to = 0;
  std::int64_t number = 1;  // of the messages from `rank` to `to`, counted from 1
  double seconds = 0;       // of delay; or when, on the virtual clock
};

// "drop 0 1 5; delay 1 0 3 0.5; crash 2 0.8; hang 1 0.3". Throws Error on anything else.
std::vector<Fault> faults_named(const std::string& text);

}  // namespace tutti::sim
