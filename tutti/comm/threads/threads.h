// SPDX-License-Identifier: Apache-2.0
// Ranks are threads of this process. Messages are copied once, from the sender's memory straight
// into the receiver's.
#pragma once

#include "tutti/comm/communicator.h"

#include <functional>
#include <memory>
#include <vector>

namespace tutti {

// The facts of a transport between threads, known before there are any.
TransportFacts thread_facts(int rank, int ranks);

// One communicator per rank of a new job, then one per endpoint.
std::vector<std::unique_ptr<Communicator>> thread_communicators(int ranks, int endpoints = 0);

// Runs `body` on every rank and endpoint, each on a thread of its own (a single rank on the
// caller's), and joins them. When a rank throws, the others are aborted and its error is rethrown,
// as "rank 1 failed: …" when there are several.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body, int endpoints = 0);

}  // namespace tutti
