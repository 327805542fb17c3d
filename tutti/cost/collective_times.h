// SPDX-License-Identifier: Apache-2.0
// How long collectives take, measured by all ranks of a job together: algorithms take turns at each
// size, results are checked with numbers that add exactly, and the prediction stands beside the
// time.
#pragma once

#include "tutti/cost/collective_kinds.h"

#include <functional>
#include <string>
#include <vector>

namespace tutti {

struct CollectiveSweep {
  std::vector<std::string> algorithms = {};  // "ring", "auto" …; none: all of the list that work
  std::int64_t least_bytes = 4, most_bytes = 64 << 20;
  int factor = 4;  // between sizes
  DType dtype = DType::f32;
  int rounds = 11;
  double round_seconds = 0.01;  // about, of one algorithm in one round
};

struct CollectiveTime {
  std::string algorithm;  // as it was asked for
  std::string chosen;     // what "auto" has chosen, else the same
  int ranks = 1;
  std::int64_t bytes = 0, elements = 0;  // of the vector
  DType dtype = DType::f32;
  std::vector<double> seconds = {};  // by round
  double predicted_seconds = 0;
  // The lower bound for what sends messages; none: the algorithm works in shared memory, or it is
  // MPI's.
  std::optional<double> bound_seconds = {};
};

// The kind of this name; allreduces include the blocking one where the transport brings it.
CollectiveKind measurable_kind(const std::string& name, Communicator& communicator);

// Times the algorithms of a kind. Called on every rank alike; the times are rank 0's, and only
// there `report` is called, after each size. Throws when a result is wrong.
void time_collectives(Communicator& communicator, const CollectiveKind& kind,
                      const CollectiveSweep& sweep,
                      const std::function<void(const std::vector<CollectiveTime>&)>& report);

// Bytes that some rank must send or receive at least, per second: the bandwidth that its link has
// shown.
double bus_bytes_per_second(const CollectiveKind& kind, const CollectiveTime& time, double seconds);

double median_of(std::vector<double> values);

}  // namespace tutti
