// SPDX-License-Identifier: Apache-2.0
// The algorithms in the list of allreduces, and the loops they share.
#pragma once

#include "tutti/comm/collectives/collective.h"

namespace tutti::collectives {

Collective ring();
Collective direct();

// The fixed-order variant of the ring.
std::unique_ptr<Operation> make_chain(Communicator& communicator, const CollectiveArgs& args);
double chain_seconds(const LinkCost& link, int ranks, std::int64_t bytes);

// Throws when the elements can't be summed.
void require_summable(const CollectiveArgs& args);

// into[i] += from[i]
template <class T>
void accumulate(T* __restrict into, const T* __restrict from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
}

}  // namespace tutti::collectives
