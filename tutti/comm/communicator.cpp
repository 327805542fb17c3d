// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/communicator.h"

#include "tutti/comm/backoff.h"

#include <mutex>

namespace tutti {

// Of ranks on one node: what copies through memory take.
Network Communicator::network() const {
  const LinkCost memory{1e-6, 1e-10, 1e-10};
  return {memory, memory, size()};
}

void Communicator::progress() {
  check_aborted();
  if (const Turn turn(*this); turn) advance_all();
}

void Communicator::advance_all() {
  // One that completes leaves the list, and the next takes its place.
  for (std::size_t i = 0; i < in_flight_.size();)
    if (!in_flight_[i]->advance()) ++i;
}

// There is room for all operations at once from the beginning.
InFlight::InFlight(Communicator& communicator, Operation& operation)
    : communicator_(communicator), operation_(operation) {
  const std::lock_guard lock(communicator_);
  communicator_.in_flight_.reserve(communicator_.in_flight_.capacity() + 1);
}

InFlight::~InFlight() {
  const std::lock_guard lock(communicator_);
  if (!active_) return;
  communicator_.abandon();
  end();
}

void InFlight::begin() {
  const std::lock_guard lock(communicator_);
  check(!active_, "an operation is complete before it starts again");
  communicator_.in_flight_.push_back(&operation_);
  active_ = true;
}

void InFlight::end() {
  std::erase(communicator_.in_flight_, &operation_);
  active_ = false;
}

void wait_ready(Operation& operation, Communicator& communicator) {
  for (Backoff backoff; !operation.ready(); backoff.pause()) communicator.progress();
}

void wait(Operation& operation, Communicator& communicator) {
  wait_ready(operation, communicator);
  for (Backoff backoff; !operation.advance(); backoff.pause()) communicator.progress();
}

void wait(Request& request, Communicator& communicator) {
  for (Backoff backoff; !communicator.test(request); backoff.pause()) communicator.progress();
}

}  // namespace tutti
