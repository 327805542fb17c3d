// SPDX-License-Identifier: Apache-2.0
// The algorithms in the lists of collectives, and what they share.
#pragma once

#include "tutti/comm/collectives/collective.h"

namespace tutti::collectives {

Collective ring();
Collective direct();
Collective ring_reduce_scatter();
Collective direct_reduce_scatter();
Collective ring_allgather();
Collective direct_allgather();

// The fixed-order variants of the ring.
std::unique_ptr<Operation> make_chain(Communicator& communicator, const CollectiveArgs& args);
double chain_seconds(const LinkCost& link, int ranks, std::int64_t bytes);
std::unique_ptr<Operation> make_pairwise_reduce_scatter(Communicator& communicator,
                                                        const CollectiveArgs& args);

// Throw when the elements can't be summed, or when 'direct' can't work.
void require_summable(const char* what, const CollectiveArgs& args);
void require_shared_memory(const char* what, Communicator& communicator);

// into[i] += from[i]
template <class T>
void accumulate(T* __restrict into, const T* __restrict from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
}

}  // namespace tutti::collectives
