// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/core/memory.h"

#include <functional>

namespace tutti {

// Runs one rank. An error of its own aborts the job; an error of a peer (Aborted) has done so
// already.
inline void run_rank(Communicator& communicator, const std::function<void(Communicator&)>& body) {
  try {
    body(communicator);
  } catch (const Aborted&) {
  } catch (const std::exception& error) {
    communicator.abort(failure_text(error));
  } catch (...) {
    communicator.abort("an exception of unknown type");
  }
}

}  // namespace tutti
