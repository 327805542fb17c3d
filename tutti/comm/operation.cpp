// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/operation.h"

#include <algorithm>

namespace tutti {

void Operations::begin(Operation& operation) {
  const auto behind = std::upper_bound(
      in_flight_.begin(), in_flight_.end(), operation.urgency(),
      [](int urgency, const Operation* other) { return urgency < other->urgency(); });
  in_flight_.insert(behind, &operation);
}

void Operations::advance() {
  // An operation that completes leaves the list, and the next takes its place.
  for (std::size_t i = 0; i < in_flight_.size();)
    if (!in_flight_[i]->advance()) ++i;
}

void Operations::send_pieces() {
  for (Operation* operation : in_flight_)
    if (!operation->send_pieces()) return;
}

}  // namespace tutti
