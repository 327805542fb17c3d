// SPDX-License-Identifier: Apache-2.0
// How messages pass through a network in the α–β model (K04): a rank sends one message and receives
// one at a time, and a message occupies both ports while its bytes pass. Messages claim ports in
// the order in which they are asked about, which is that of virtual time.
#pragma once

#include "tutti/comm/network.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tutti::sim {

class Ports {
 public:
  Ports(int ranks, const Network& network)
      : network_(network), ports_(static_cast<std::size_t>(ranks)) {}

  // Both ranks are ready for it: when it has arrived, and the sender may forget it.
  double pass(int from, int to, double bytes, double now) {
    Pair& out = ports_[static_cast<std::size_t>(from)];
    Pair& in = ports_[static_cast<std::size_t>(to)];
    const LinkCost& link = network_.link(from, to);
    const double begins = std::max({now, out.out_free, in.in_free});
    const double passed =
        begins + std::max(0.0, link.message_seconds(bytes) - link.latency_seconds);
    out.out_free = in.in_free = passed;
    out.bytes_sent += bytes;
    return passed + link.latency_seconds;
  }

  double bytes_sent(int rank) const { return ports_[static_cast<std::size_t>(rank)].bytes_sent; }
  const Network& network() const { return network_; }

 private:
  struct Pair {
    double out_free = 0, in_free = 0;  // from when on
    double bytes_sent = 0;
  };
  Network network_;
  std::vector<Pair> ports_;
};

}  // namespace tutti::sim
