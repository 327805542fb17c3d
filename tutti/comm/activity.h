// SPDX-License-Identifier: Apache-2.0
// What ranks tell of themselves while they work, so that a rank that waits in vain can say what its
// peers did meanwhile.
#pragma once

#include <atomic>
#include <string>

namespace tutti {

// What one rank is doing. The texts live as long as the rank's communicator (Communicator::keep).
struct Activity {
  std::atomic<const char*> doing{nullptr};
  std::atomic<const char*> waits_for{nullptr};
  // "is in convolution of conv1", "waits for the barrier"
  std::string text() const;
};

// The activities of all ranks, as one of them sees them.
class Activities {
 public:
  virtual ~Activities() = default;
  virtual Activity& own() = 0;
  // What a peer is doing: its text(), or that it does not answer.
  virtual std::string of(int peer) = 0;
};

}  // namespace tutti
