// SPDX-License-Identifier: Apache-2.0
// What messages and additions cost: the α–β–γ model (K04), or times measured at several sizes.
#pragma once

#include "tutti/core/usual_rates.h"

#include <cstdint>
#include <vector>

namespace tutti {

// What was measured for vectors of so many bytes.
struct LinkSample {
  double bytes = 0;
  double message_seconds = 0;  // to send them while as many are received
  double add_seconds = 0;      // and to add what was received
};

// A message of n bytes takes latency + n · per_byte, and adding it n · per_added_byte more. Where
// it was measured, what was measured counts, in between as a straight line.
struct LinkCost {
  double latency_seconds = 0;
  double seconds_per_byte = 0;
  double seconds_per_added_byte = 0;
  std::vector<LinkSample> samples = {};  // ascending
  // By which a byte that a rank sends or receives makes its computing longer: a core handles it.
  double handling_seconds_per_byte = 0;

  double message_seconds(double bytes) const;
  double add_seconds(double bytes) const;
};

// The cost that samples mean: the latency is that of the shortest, the rates those of the longest.
LinkCost link_of(std::vector<LinkSample> samples);

// Links that were not measured: memory between ranks of one node, and a network between nodes.
inline const LinkCost usual_memory{usual::memory_latency_seconds, usual::memory_seconds_per_byte,
                                   usual::seconds_per_added_byte};
inline const LinkCost usual_network{usual::network_latency_seconds, usual::network_seconds_per_byte,
                                    usual::seconds_per_added_byte};

// Nodes hold `node_ranks` consecutive ranks each; the last may hold fewer.
struct Network {
  LinkCost across;  // between nodes
  LinkCost within;  // of a node
  int node_ranks = 1;
  // Allreduces of two ranks through memory that both see, where they were measured: 'direct' and
  // 'staged'.
  LinkCost direct = {}, staged = {};

  Network(const LinkCost& all) : across(all), within(all) {}  // NOLINT: a link is a network
  Network(const LinkCost& between_nodes, const LinkCost& in_node, int ranks)
      : across(between_nodes), within(in_node), node_ranks(ranks) {}

  const LinkCost& link(int from, int to) const {
    return from / node_ranks == to / node_ranks ? within : across;
  }
};

}  // namespace tutti
