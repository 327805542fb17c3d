// SPDX-License-Identifier: Apache-2.0
// The predicted time of a schedule (K04): each rank has a clock; a message begins when both ranks
// have come to it and its ports are free, as a rank sends one message and receives one at a time.
#pragma once

#include "tutti/comm/network.h"
#include "tutti/comm/schedule.h"

namespace tutti::collectives {

// Seconds until the last rank has done its last phase.
double price(const Schedule& schedule, const Network& network);

// A lower bound of price(), quick to compute: by the actions of one rank, as if its peers were
// always ready.
double least_price(const Actions& actions, int rank, DType dtype, const Network& network);

}  // namespace tutti::collectives
