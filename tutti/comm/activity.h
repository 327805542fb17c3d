// SPDX-License-Identifier: Apache-2.0
// What ranks tell of themselves while they work, so that a rank that waits in vain can say what its
// peers did meanwhile.
#pragma once

#include <atomic>
#include <string>

namespace tutti {

// Of one rank. The texts outlive the rank's communicator.
struct Activity {
  std::atomic<const char*> doing{nullptr};
  std::atomic<const char*> waits_for{nullptr};
  // "is in convolution of conv1", "waits for the barrier"
  std::string text() const;
};

// Of all ranks, as one of them sees it.
class Activities {
 public:
  virtual ~Activities() = default;
  virtual Activity& own() = 0;
  // What a peer says that it does.
  virtual std::string of(int peer) = 0;
};

}  // namespace tutti
