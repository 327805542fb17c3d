// SPDX-License-Identifier: Apache-2.0
// What messages and additions cost: the α–β–γ model (K04), or times measured at several sizes.
#pragma once

#include "tutti/core/usual_rates.h"

#include <cstdint>
#include <vector>

namespace tutti {

// Times measured for vectors of `bytes` bytes.
struct LinkSample {
  double bytes = 0;
  double message_seconds = 0;  // to send a vector while one as long is received
  double add_seconds = 0;      // to add a vector that was received, beyond message_seconds
};

// What messages over a link cost: one of n bytes takes latency + n · seconds_per_byte, and adding
// it n · seconds_per_added_byte more. Where there are samples, times lie on straight lines between
// them instead.
struct LinkCost {
  double latency_seconds = 0;
  double seconds_per_byte = 0;
  double seconds_per_added_byte = 0;
  std::vector<LinkSample> samples = {};  // ascending
  // Seconds by which each byte that a rank sends or receives lengthens its computing, since a core
  // handles it.
  double handling_seconds_per_byte = 0;

  double message_seconds(double bytes) const;
  double add_seconds(double bytes) const;
};

// The cost of a link with these samples: the latency is the time of the shortest message, the rates
// come from the longest.
LinkCost link_of(std::vector<LinkSample> samples);

// Assumed costs of links that were not measured: memory between ranks of one node, and a network
// between nodes.
inline const LinkCost usual_memory{usual::memory_latency_seconds, usual::memory_seconds_per_byte,
                                   usual::seconds_per_added_byte};
inline const LinkCost usual_network{usual::network_latency_seconds, usual::network_seconds_per_byte,
                                    usual::seconds_per_added_byte};

// The links between ranks. Nodes hold `node_ranks` consecutive ranks each; the last may hold fewer.
struct Network {
  LinkCost across;  // between nodes
  LinkCost within;  // between ranks of one node
  int node_ranks = 1;
  // Allreduces of two ranks through memory that both see, by the algorithms 'direct' and 'staged';
  // without samples where they were not measured.
  LinkCost direct = {}, staged = {};

  Network(const LinkCost& all) : across(all), within(all) {}  // NOLINT: a link is a network
  Network(const LinkCost& between_nodes, const LinkCost& in_node, int ranks)
      : across(between_nodes), within(in_node), node_ranks(ranks) {}

  const LinkCost& link(int from, int to) const {
    return from / node_ranks == to / node_ranks ? within : across;
  }
};

}  // namespace tutti
