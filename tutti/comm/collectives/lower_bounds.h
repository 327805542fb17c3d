// SPDX-License-Identifier: Apache-2.0
// Lower bounds for collectives whose ranks send and receive one message at a time (D06). L is the
// latency of a message, G the time of a byte, m the bytes of the vector. An allreduce of P ranks
// takes at least L log2 P, as the ranks that one has heard of at most double with each message; at
// least m G, as all of the sum comes from elsewhere; and, where no sum is computed twice, at least
// L log2 P + 2 m G (P − 1)/P; Rabenseifner's takes L log2 P more.
#pragma once

#include "tutti/comm/network.h"

namespace tutti::collectives {

// What some rank of a collective must do at least.
struct LeastTraffic {
  int messages = 0;             // one after the other: ⌈log2 P⌉ where all depend on all
  double volume = 0;            // sent or received, in vectors, where no sum is computed twice
  double redundant_volume = 0;  // where some sums are computed twice
};
LeastTraffic least_of_allreduce(int ranks);
LeastTraffic least_of_rooted(int ranks);  // reduce, broadcast
LeastTraffic least_of_parts(int ranks);   // reduce-scatter, allgather, all-to-all
LeastTraffic least_of_neighbours(int ranks);

struct LowerBounds {
  double latency_seconds = 0;
  double bandwidth_seconds = 0;  // of the redundant volume
  double seconds = 0;            // latency and volume, where no sum is computed twice
};
// Lower bounds by the cheapest link that the ranks may use.
LowerBounds lower_bounds(const LeastTraffic& least, const Network& network, int ranks,
                         double bytes);

}  // namespace tutti::collectives
