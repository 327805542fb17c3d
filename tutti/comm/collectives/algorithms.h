// SPDX-License-Identifier: Apache-2.0
// The algorithms in the lists of collectives, and what they share.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/schedule.h"
#include "tutti/core/bf16.h"

namespace tutti::collectives {

// Algorithms as schedules: the actions of one rank.
Actions ring_allreduce(const Problem& problem, int rank);
Actions tree_allreduce(const Problem& problem, int rank);
Actions butterfly_allreduce(const Problem& problem, int rank);
Actions rabenseifner_allreduce(const Problem& problem, int rank);
Actions hierarchical_allreduce(const Problem& problem, int rank);
Actions chain_allreduce(const Problem& problem, int rank);
Actions ring_reduce_scatter(const Problem& problem, int rank);
Actions bruck_reduce_scatter(const Problem& problem, int rank);
Actions pairwise_reduce_scatter(const Problem& problem, int rank);
Actions ring_allgather(const Problem& problem, int rank);
Actions bruck_allgather(const Problem& problem, int rank);
Actions tree_reduce_all(const Problem& problem, int rank);
Actions line_reduce(const Problem& problem, int rank);
Actions tree_broadcast_all(const Problem& problem, int rank);
Actions pairwise_all_to_all(const Problem& problem, int rank);
Actions ring_exchange(const Problem& problem, int rank);
// An exchange with any neighbours; a rank is a neighbour of its neighbours.
Actions exchange_with(const std::vector<int>& neighbours, std::int64_t count);
std::vector<int> ring_neighbours(int ranks, int rank);

// What algorithms are put together from, each in a row of ranks: sums at the first rank, the first
// rank's vector for all, and an allreduce.
void tree_reduce(Phases& phases, const RankRow& row, int index, Part segment);
void tree_broadcast(Phases& phases, const RankRow& row, int index, Part segment);
void rabenseifner(Phases& phases, const RankRow& row, int index, std::int64_t count);

// A function from a rank to the part that it owns.
inline auto own_parts(const Problem& problem) {
  return [problem](int rank) { return part_of(problem.count, problem.dtype, rank, problem.ranks); };
}

// The algorithms 'direct', between ranks that share memory.
Collective direct();
Collective direct_reduce_scatter();
Collective direct_allgather();

// The allreduce 'staged', between ranks of one node that see some memory in common.
Collective staged();

// The allreduce that the transport brings. The blocking one is in no list; see
// Transport::own_allreduce.
Collective own_allreduce(bool blocks = false);

// Throw when the elements can't be summed, or when 'direct' can't work.
void require_summable(const char* what, const CollectiveArgs& args);
void require_shared_memory(const char* what, const Group& group);

// into[i] += from[i]
template <class T>
void accumulate(T* __restrict into, const T* __restrict from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) into[i] += from[i];
}
void accumulate(Bf16* __restrict into, const Bf16* __restrict from, std::int64_t count);

// How elements of two vectors become one: as `args` say, else by addition; nullptr where elements
// of their type can't be added.
Combine combine_of(const CollectiveArgs& args);

}  // namespace tutti::collectives
