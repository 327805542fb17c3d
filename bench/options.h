// SPDX-License-Identifier: Apache-2.0
// What the command line of tutti_bench may say, and what every family of benches is given.
#pragma once

#include "bench/records.h"

#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

struct Options {
  std::string program;  // our own path, to start child processes
  std::string filter;   // measure only what has this in its name
  std::string json;
  int repeats = 11;
  std::vector<int> threads = {1, 2};
  bool peers = false;
  std::string python;  // that has PyTorch; empty: the first that has
  bool eager = false;  // without torch.compile
  bool quick = false;

  bool wants(const std::string& name) const { return name.find(filter) != std::string::npos; }
  // Milliseconds that one round of a measurement should take.
  double round_ms() const { return quick ? 30 : 150; }
};

using Peaks = std::map<int, Peak>;  // by threads

}  // namespace tutti::bench
