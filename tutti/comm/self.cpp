// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/self.h"

#include "tutti/comm/threads/threads.h"

namespace tutti {

std::unique_ptr<Communicator> self_communicator() {
  return std::move(thread_communicators(1).front());
}

}  // namespace tutti
