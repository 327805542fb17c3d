// SPDX-License-Identifier: Apache-2.0
// The job of one rank: collectives complete at once, and there is nobody to send to.
#pragma once

#include "tutti/comm/communicator.h"

#include <memory>

namespace tutti {

std::unique_ptr<Communicator> self_communicator();

}  // namespace tutti
