// SPDX-License-Identifier: Apache-2.0
// One side of a comparison of training steps: a process, ours or a peer's, that runs steps when
// asked.
#pragma once

#include "bench/child.h"
#include "bench/options.h"
#include "bench/torch.h"
#include "bench/workload.h"

#include <functional>
#include <optional>

namespace tutti::bench {

struct Side {
  std::string name;
  int threads = 1, ranks = 1;
  bool peer = false;
  bool shard = false;  // each rank updates only its own part of the weights
  std::function<Child()> start;
  std::optional<Child> child = {};
  int steps = 1;  // steps per round
  double parameters = 0, loss = 0;
  std::vector<double> ms = {};  // milliseconds of a step, one entry for each round

  // Milliseconds of `count` steps; sets `loss`.
  double run(int count);
};

// What the first step of every side must return.
struct Expected {
  double loss = 0, tolerance = 0, parameters = 0;
};

// Starts a side, checks its first step and finds how many steps make a round.
void start(Side& side, const Options& options, const Expected& expected);

// Peak resident bytes of a fresh process after 20 steps.
double memory_of(const Side& side);

Side our_side(const Options& options, const Workload& workload, const std::string& path,
              int threads, int ranks, bool shard = false);

Side torch_side(const Torch& torch, const Workload& workload, const std::string& path, int threads,
                const Way& way);

// PyTorch, run in the three ways that were fastest in short trials; the trials are recorded under
// `name`.
std::vector<Side> fastest_torch_sides(const Options& options, const Torch& torch,
                                      const Workload& workload, const std::string& path,
                                      int threads, const Expected& expected,
                                      const std::string& name, Records& records);

}  // namespace tutti::bench
