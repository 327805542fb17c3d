// SPDX-License-Identifier: Apache-2.0
// The algorithms in the lists of collectives, and what they share.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/schedule.h"
#include "tutti/core/bf16.h"

namespace tutti::collectives {

// As schedules: what one rank does.
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
// With any neighbours; who is one's neighbour has one as its own.
Actions exchange_with(const std::vector<int>& neighbours, std::int64_t count);
std::vector<int> ring_neighbours(int ranks, int rank);

// What they are put together from: sums to the first rank of a row, that rank's vector to all,
// and an allreduce in it.
void tree_reduce(Steps& steps, const RankRow& row, int index, Part segment);
void tree_broadcast(Steps& steps, const RankRow& row, int index, Part segment);
void rabenseifner(Steps& steps, const RankRow& row, int index, std::int64_t count);

// The part of each rank.
inline auto own_parts(const Problem& problem) {
  return [problem](int rank) { return part_of(problem.count, problem.dtype, rank, problem.ranks); };
}

// Between ranks that share memory.
Collective direct();
Collective direct_reduce_scatter();
Collective direct_allgather();

// Between ranks of one node that see some memory in common.
Collective staged();

// The transport's own. One that blocks is not in the list, see Communicator::own_allreduce.
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

// How the elements of two vectors become one: as `args` say, else by addition.
Combine combine_of(const CollectiveArgs& args);

}  // namespace tutti::collectives
