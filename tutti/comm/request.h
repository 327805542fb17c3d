// SPDX-License-Identifier: Apache-2.0
// A message that is under way at one of its ends.
#pragma once

#include <cstdint>

namespace tutti {

struct SealedMessage;

// Its fields are the transport's own. A default Request is complete.
struct Request {
  void* handle = nullptr;
  void* data = nullptr;
  std::int64_t bytes = 0;
  std::uint64_t number = 0;
  int state = 0;
  SealedMessage* sealed = nullptr;  // set by a communicator that checks messages
};

// A message that has been sent to a rank and waits to be received.
struct Waiting {
  int from = 0;
  std::int64_t bytes = 0;
};

}  // namespace tutti
