// SPDX-License-Identifier: Apache-2.0
// Runs one rank's part of a schedule in a group, on any transport.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/schedule.h"

#include <memory>

namespace tutti::collectives {

// An operation that carries out the actions. `elements` is the length of the vector, behind which
// scratch memory begins.
std::unique_ptr<Operation> run_schedule(const Group& group, Actions actions,
                                        const CollectiveArgs& args, std::int64_t elements);

}  // namespace tutti::collectives
