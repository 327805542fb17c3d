// SPDX-License-Identifier: Apache-2.0
// What the table [simulation] means.
#pragma once

#include "tutti/comm/sim/world.h"
#include "tutti/core/settings.h"

#include <map>
#include <string>

namespace tutti {

// "3:2.5 7:1.2": factors by rank. Throws Error on anything else.
std::map<int, double> slow_ranks(const std::string& text);

// The network of the simulated ranks; how long they compute; both together with the faults.
Network simulated_network(const Settings& simulation);
sim::ComputeLaw simulated_law(const Settings& simulation);
sim::SimulatedMachine simulated_machine(const Settings& simulation);

}  // namespace tutti
