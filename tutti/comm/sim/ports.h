// SPDX-License-Identifier: Apache-2.0
// How messages pass through a network in the α–β model (K04): a rank sends one message and receives
// one at a time, and a message occupies both ports while its bytes pass. Of the messages that wait
// for a port the most urgent goes first, of equals the one that asked first. A message under way is
// not interrupted.
#pragma once

#include "tutti/comm/network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::sim {

// A message both ends of which are ready. `Event` is what the caller knows it by.
template <class Event>
struct Passage {
  int from = 0, to = 0;
  double bytes = 0;
  int urgency = 0;           // the least first
  double delay_seconds = 0;  // on its way, beyond that of the link
  bool lost = false;         // it passes the ports and never arrives
  Event event = {};
};

// The ports of all ranks. Messages are known by numbers that the caller gives them.
template <class Event>
class Ports {
 public:
  Ports(int ranks, const Network& network)
      : network_(network), ports_(static_cast<std::size_t>(ranks)) {}

  // A message asks for its ports.
  void ask(int number, const Passage<Event>& passage) {
    const Waiting waiting{passage.urgency, number, ++asked_, passage.from, passage.to};
    at(passage.from).sends.push_back(waiting);
    at(passage.to).receives.push_back(waiting);
    at(passage.from).bytes_sent += passage.bytes;
  }

  // The next message that the rank can send, or receive; it then occupies its ports. -1: none.
  int next_sent(int rank) { return at(rank).sending ? -1 : begin(at(rank).sends); }
  int next_received(int rank) { return at(rank).receiving ? -1 : begin(at(rank).receives); }
  // A message has passed.
  void end(int from, int to) {
    at(from).sending = false;
    at(to).receiving = false;
  }
  // How long the bytes take to pass.
  double seconds(const Passage<Event>& passage) const {
    const LinkCost& link = network_.link(passage.from, passage.to);
    return std::max(0.0, link.message_seconds(passage.bytes) - link.latency_seconds);
  }

  double bytes_sent(int rank) const { return ports_[static_cast<std::size_t>(rank)].bytes_sent; }
  const Network& network() const { return network_; }

 private:
  struct Waiting {
    int urgency = 0, number = 0;
    std::int64_t asked = 0;
    int from = 0, to = 0;
  };
  struct Port {
    std::vector<Waiting> sends, receives;  // messages that wait
    bool sending = false, receiving = false;
    double bytes_sent = 0;
  };
  Port& at(int rank) { return ports_[static_cast<std::size_t>(rank)]; }

  int begin(const std::vector<Waiting>& all) {
    const Waiting* best = nullptr;
    for (const Waiting& one : all) {
      if (at(one.from).sending || at(one.to).receiving) continue;
      if (best == nullptr || before(one, *best)) best = &one;
    }
    if (best == nullptr) return -1;
    const Waiting chosen = *best;
    remove(at(chosen.from).sends, chosen.asked);
    remove(at(chosen.to).receives, chosen.asked);
    at(chosen.from).sending = at(chosen.to).receiving = true;
    return chosen.number;
  }

  static bool before(const Waiting& a, const Waiting& b) {
    return a.urgency != b.urgency ? a.urgency < b.urgency : a.asked < b.asked;
  }
  static void remove(std::vector<Waiting>& from, std::int64_t asked) {
    from.erase(std::find_if(from.begin(), from.end(),
                            [&](const Waiting& one) { return one.asked == asked; }));
  }

  Network network_;
  std::vector<Port> ports_;
  std::int64_t asked_ = 0;
};

}  // namespace tutti::sim
