// SPDX-License-Identifier: Apache-2.0
// The options of tutti_bench, which every family of benches gets.
#pragma once

#include "bench/records.h"

#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

struct Options {
  std::string program;  // path of tutti_bench itself, to start child processes
  std::string filter;   // measure only benches whose names contain this
  std::string json;
  int repeats = 11;
  std::vector<int> threads = {1, 2};
  bool peers = false;
  std::string python;  // a Python that has PyTorch; empty: the first one found
  bool eager = false;  // run PyTorch without torch.compile
  bool quick = false;

  bool wants(const std::string& name) const { return name.find(filter) != std::string::npos; }
  // Milliseconds that one round of a measurement should take.
  double round_ms() const { return quick ? 30 : 150; }
};

using Peaks = std::map<int, Peak>;  // by threads

}  // namespace tutti::bench
