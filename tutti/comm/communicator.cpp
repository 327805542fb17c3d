// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/communicator.h"

#include "tutti/comm/backoff.h"

namespace tutti {

void wait(Operation& operation, Communicator& communicator) {
  for (Backoff backoff; !operation.advance(); backoff.pause()) communicator.check_aborted();
}

void wait(Request& request, Communicator& communicator) {
  for (Backoff backoff; !communicator.test(request); backoff.pause()) communicator.check_aborted();
}

}  // namespace tutti
