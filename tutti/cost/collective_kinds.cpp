// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/collective_kinds.h"

#include "tutti/comm/collectives/algorithms.h"

namespace tutti {
namespace {

using collectives::Problem;
using Given = CollectiveKind::Given;
using Result = std::optional<double>;

double sum(const Problem& problem, std::int64_t i, const Given& given) {
  double all = 0;
  for (int rank = 0; rank < problem.ranks; ++rank) all += given(rank, i);
  return all;
}

int owner(const Problem& problem, std::int64_t i) {
  const auto part = collectives::own_parts(problem);
  int rank = 0;
  while (i >= part(rank).end) ++rank;
  return rank;
}

Result allreduced(const Problem& problem, int, std::int64_t i, const Given& given) {
  return sum(problem, i, given);
}
Result reduced(const Problem& problem, int rank, std::int64_t i, const Given& given) {
  return rank == 0 ? Result(sum(problem, i, given)) : std::nullopt;
}
Result reduced_in_parts(const Problem& problem, int rank, std::int64_t i, const Given& given) {
  return owner(problem, i) == rank ? Result(sum(problem, i, given)) : std::nullopt;
}
Result broadcast(const Problem&, int, std::int64_t i, const Given& given) { return given(0, i); }
Result gathered(const Problem& problem, int, std::int64_t i, const Given& given) {
  return given(owner(problem, i), i);
}
Result transposed(const Problem& problem, int rank, std::int64_t i, const Given& given) {
  const std::int64_t block = problem.count / problem.ranks;
  return given(static_cast<int>(i / block), rank * block + i % block);
}
Result of_neighbours(const Problem& problem, int rank, std::int64_t i, const Given& given) {
  if (i < problem.count) return given(rank, i);
  const bool before = i < 2 * problem.count;  // two ranks have one neighbour
  const int neighbour = (rank + (before ? problem.ranks - 1 : 1)) % problem.ranks;
  return given(neighbour, i % problem.count);
}

std::int64_t own_and_neighbours(const Problem& problem, int rank) {
  const std::size_t neighbours = collectives::ring_neighbours(problem.ranks, rank).size();
  return (1 + static_cast<std::int64_t>(neighbours)) * problem.count;
}

}  // namespace

List<CollectiveKind> collective_kinds() {
  return {"collective",
          {{.name = "allreduce",
            .doc = "sums over ranks, for all of them",
            .list = allreduces(),
            .least = collectives::least_of_allreduce,
            .result = allreduced},
           {.name = "reduce",
            .doc = "sums over ranks, for rank 0",
            .list = reduces(),
            .least = collectives::least_of_rooted,
            .result = reduced},
           {.name = "reduce-scatter",
            .doc = "sums over ranks, a part for each of them",
            .list = reduce_scatters(),
            .least = collectives::least_of_parts,
            .result = reduced_in_parts},
           {.name = "broadcast",
            .doc = "the vector of rank 0, for all",
            .list = broadcasts(),
            .least = collectives::least_of_rooted,
            .result = broadcast},
           {.name = "allgather",
            .doc = "a part from each rank, for all of them",
            .list = allgathers(),
            .least = collectives::least_of_parts,
            .result = gathered},
           {.name = "all-to-all",
            .doc = "a block from each rank for each",
            .list = all_to_alls(),
            .least = collectives::least_of_parts,
            .result = transposed,
            .equal_blocks = true},
           {.name = "neighbour-exchange",
            .doc = "the vectors of the rank before and the one after",
            .list = neighbour_exchanges(),
            .least = collectives::least_of_neighbours,
            .result = of_neighbours,
            .elements = own_and_neighbours}}};
}

}  // namespace tutti
