// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/lower_bounds.h"

#include "tutti/comm/collectives/algorithms.h"

#include <algorithm>
#include <bit>

namespace tutti::collectives {
namespace {

int rounds_of(int ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

// The fraction of a vector that is not a rank's own part.
double rest_of(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

double byte_seconds(const LinkCost& link, double bytes) {
  return std::max(0.0, link.message_seconds(bytes) - link.message_seconds(0));
}

}  // namespace

LeastTraffic least_of_allreduce(int ranks) {
  return {rounds_of(ranks), 2 * rest_of(ranks), ranks > 1 ? 1.0 : 0.0};
}

LeastTraffic least_of_rooted(int ranks) {
  const double whole = ranks > 1 ? 1 : 0;
  return {rounds_of(ranks), whole, whole};
}

LeastTraffic least_of_parts(int ranks) {
  return {rounds_of(ranks), rest_of(ranks), rest_of(ranks)};
}

LeastTraffic least_of_neighbours(int ranks) {
  const auto neighbours = static_cast<double>(ring_neighbours(ranks, 0).size());
  return {ranks > 1 ? 1 : 0, neighbours, neighbours};
}

LowerBounds lower_bounds(const LeastTraffic& least, const Network& network, int ranks,
                         double bytes) {
  // The cost over the links that the ranks have; the lower one where they have both kinds.
  const auto cheapest = [&](auto cost) {
    if (ranks <= network.node_ranks) return cost(network.within);
    if (network.node_ranks == 1) return cost(network.across);
    return std::min(cost(network.within), cost(network.across));
  };
  const auto seconds_of = [&](double volume) {
    return cheapest([&](const LinkCost& link) { return byte_seconds(link, volume * bytes); });
  };
  const double latency =
      least.messages * cheapest([](const LinkCost& link) { return link.message_seconds(0); });
  return {latency, seconds_of(least.redundant_volume), latency + seconds_of(least.volume)};
}

}  // namespace tutti::collectives
