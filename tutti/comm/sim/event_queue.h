// SPDX-License-Identifier: Apache-2.0
// What is going to happen, by virtual time. Events of one moment come in the order in which they
// were added, so that a simulation is a function of what it is given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti::sim {

template <class Event>
class EventQueue {
 public:
  void add(double seconds, const Event& event) {
    heap_.push_back({seconds, added_++, event});
    std::push_heap(heap_.begin(), heap_.end(), Later());
  }

  bool empty() const { return heap_.empty(); }
  double next_seconds() const { return heap_.front().seconds; }

  Event take() {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    const Event event = heap_.back().event;
    heap_.pop_back();
    return event;
  }

 private:
  struct Entry {
    double seconds = 0;
    std::uint64_t number = 0;
    Event event = {};
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.seconds != b.seconds ? a.seconds > b.seconds : a.number > b.number;
    }
  };

  std::vector<Entry> heap_;
  std::uint64_t added_ = 0;
};

}  // namespace tutti::sim
