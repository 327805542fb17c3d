// SPDX-License-Identifier: Apache-2.0
// Ports as in ports.h, where messages don't keep their order: of those that wait for a port the
// most urgent goes first. One that is under way is not interrupted.
#pragma once

#include "tutti/comm/network.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::sim {

class UrgentPorts {
 public:
  struct Message {
    int urgency = 0;  // the least first; of equals the one that was asked about first
    std::int32_t operation = 0, rank = 0, number = 0;  // for the caller
    int from = 0, to = 0;
    double bytes = 0;
    std::int64_t asked = 0;  // set here
  };

  UrgentPorts(int ranks, const Network& network)
      : network_(network), ports_(static_cast<std::size_t>(ranks)) {}

  // Both ranks are ready for it.
  void ask(Message message) {
    message.asked = ++asked_;
    at(message.from).sends.push_back(message);
    at(message.to).receives.push_back(message);
    at(message.from).bytes_sent += message.bytes;
  }

  // The next that the rank can send, or receive; it then occupies its ports.
  std::optional<Message> next_sent(int rank) {
    return at(rank).sending ? std::nullopt : begin(at(rank).sends);
  }
  std::optional<Message> next_received(int rank) {
    return at(rank).receiving ? std::nullopt : begin(at(rank).receives);
  }
  // A message has passed.
  void end(int from, int to) {
    at(from).sending = false;
    at(to).receiving = false;
  }
  // How long its bytes take to pass.
  double seconds(const Message& message) const {
    const LinkCost& link = network_.link(message.from, message.to);
    return std::max(0.0, link.message_seconds(message.bytes) - link.latency_seconds);
  }

  double bytes_sent(int rank) const { return ports_[static_cast<std::size_t>(rank)].bytes_sent; }

 private:
  struct Port {
    std::vector<Message> sends, receives;  // that wait
    bool sending = false, receiving = false;
    double bytes_sent = 0;
  };
  Port& at(int rank) { return ports_[static_cast<std::size_t>(rank)]; }

  std::optional<Message> begin(const std::vector<Message>& waiting) {
    const Message* best = nullptr;
    for (const Message& one : waiting) {
      if (at(one.from).sending || at(one.to).receiving) continue;
      if (best == nullptr || before(one, *best)) best = &one;
    }
    if (best == nullptr) return std::nullopt;
    const Message message = *best;
    remove(at(message.from).sends, message);
    remove(at(message.to).receives, message);
    at(message.from).sending = at(message.to).receiving = true;
    return message;
  }

  static bool before(const Message& a, const Message& b) {
    return a.urgency != b.urgency ? a.urgency < b.urgency : a.asked < b.asked;
  }
  static void remove(std::vector<Message>& from, const Message& message) {
    from.erase(std::find_if(from.begin(), from.end(),
                            [&](const Message& one) { return one.asked == message.asked; }));
  }

  Network network_;
  std::vector<Port> ports_;
  std::int64_t asked_ = 0;
};

}  // namespace tutti::sim
