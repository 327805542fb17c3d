// SPDX-License-Identifier: Apache-2.0
// The transport `sim`: ranks are threads of this process that take turns on a virtual clock. They
// have real values and get the same results as on any other transport; what messages and computing
// would cost on another machine is seen on the clock, and so is what happens when something fails.
#pragma once

#include "tutti/comm/sim/world.h"

#include <functional>

namespace tutti::sim {

// Runs `body` on every rank and endpoint, as run_ranks() does on threads that run at once.
void run_simulated_ranks(int ranks, const SimulatedMachine& machine,
                         const std::function<void(Communicator&)>& body, int endpoints = 0);

}  // namespace tutti::sim
