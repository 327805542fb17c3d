// SPDX-License-Identifier: Apache-2.0
// How long allreduces take, measured by all ranks of a job together: algorithms take turns at each
// size, sums are checked with numbers that add exactly, and the prediction stands beside the time.
#pragma once

#include "tutti/comm/collectives/collective.h"

#include <functional>
#include <string>
#include <vector>

namespace tutti {

struct AllreduceSweep {
  std::vector<std::string> algorithms = {};  // "ring", "auto" …; none: all of the list that work
  std::int64_t least_bytes = 4, most_bytes = 64 << 20;
  int factor = 4;  // between sizes
  DType dtype = DType::f32;
  int rounds = 11;
  double round_seconds = 0.01;  // at least, of one algorithm in one round
};

struct AllreduceTime {
  std::string algorithm;  // as it was asked for
  std::string chosen;     // what "auto" has chosen, else the same
  int ranks = 1;
  std::int64_t bytes = 0, elements = 0;
  DType dtype = DType::f32;
  std::vector<double> seconds = {};  // by round
  double predicted_seconds = 0;
};

// The list of allreduces and, where the transport brings an allreduce that blocks, that one.
List<Collective> measurable_allreduces(Communicator& communicator);

// Called on every rank alike; the times are rank 0's, and only there `report` is called, after each
// size. Throws when a sum is wrong.
void time_allreduces(Communicator& communicator, const List<Collective>& list,
                     const AllreduceSweep& sweep,
                     const std::function<void(const std::vector<AllreduceTime>&)>& report);

// Bytes that each rank must send and receive at least, counted per second: what a link would show.
double bus_bytes_per_second(const AllreduceTime& time, double seconds);

double median_of(std::vector<double> values);

}  // namespace tutti
