// SPDX-License-Identifier: Apache-2.0
// What messages and additions cost, in the α–β–γ model (K04).
#pragma once

namespace tutti {

// A message of n bytes takes latency + n · per_byte, and adding it n · per_added_byte more.
struct LinkCost {
  double latency_seconds = 0;
  double seconds_per_byte = 0;
  double seconds_per_added_byte = 0;
};

// Nodes hold `node_ranks` consecutive ranks each; the last may hold fewer.
struct Network {
  LinkCost across;  // between nodes
  LinkCost within;  // of a node
  int node_ranks = 1;

  Network(const LinkCost& all) : across(all), within(all) {}  // NOLINT: a link is a network
  Network(const LinkCost& between_nodes, const LinkCost& in_node, int ranks)
      : across(between_nodes), within(in_node), node_ranks(ranks) {}

  const LinkCost& link(int from, int to) const {
    return from / node_ranks == to / node_ranks ? within : across;
  }
};

}  // namespace tutti
