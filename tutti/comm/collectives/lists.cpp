// SPDX-License-Identifier: Apache-2.0
// The lists of collectives, one line per algorithm, and the choice among them.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/price.h"
#include "tutti/comm/collectives/run_schedule.h"

#include <algorithm>
#include <limits>

namespace tutti {
namespace {

using collectives::Algorithm;
using collectives::Problem;

// What the scheduled algorithms of one list have in common.
struct Kind {
  const char* name;
  bool sums = false;
  Algorithm in_rank_order = nullptr;  // replaces the others where the order of sums is fixed
  // The elements of the vector, where they are not the `count` of the problem.
  std::int64_t (*elements)(const Problem&, int rank) = nullptr;
  void (*require)(const Problem&) = nullptr;
};

Problem problem_of(const Group& group, const CollectiveArgs& args) {
  check(args.count >= 0, "a vector has no negative length");
  return {group.size(), args.count, args.dtype,
          args.node_ranks > 0 ? args.node_ranks : group.facts().network.node_ranks};
}

Collective scheduled(const Kind& kind, std::string name, std::string doc, Algorithm algorithm) {
  const auto fitting = [kind, algorithm](bool fixed_order) {
    return fixed_order && kind.in_rank_order != nullptr ? kind.in_rank_order : algorithm;
  };
  return {
      .name = std::move(name),
      .doc = std::move(doc),
      .supports = [](const TransportFacts&) { return true; },
      .make =
          [kind, fitting](const Group& group, const CollectiveArgs& args) {
            if (kind.sums) collectives::require_summable(kind.name, args);
            const Problem problem = problem_of(group, args);
            if (kind.require != nullptr) kind.require(problem);
            const int rank = group.rank();
            return collectives::run_schedule(
                group, fitting(args.fixed_order)(problem, rank), args,
                kind.elements != nullptr ? kind.elements(problem, rank) : problem.count);
          },
      .seconds =
          [fitting](const Network& network, int ranks, std::int64_t bytes, bool fixed_order) {
            const Problem problem{ranks, bytes / bytes_of(DType::f32), DType::f32,
                                  network.node_ranks};
            return collectives::price(collectives::schedule_of(fitting(fixed_order), problem),
                                      network);
          },
      .schedule =
          [fitting](const Problem& problem, bool fixed_order) {
            return collectives::schedule_of(fitting(fixed_order), problem);
          },
      .actions = [fitting](const Problem& problem, int rank,
                           bool fixed_order) { return fitting(fixed_order)(problem, rank); },
  };
}

constexpr Kind allreduce{
    .name = "allreduce", .sums = true, .in_rank_order = collectives::chain_allreduce};
constexpr Kind reduce_scatter{
    .name = "reduce_scatter", .sums = true, .in_rank_order = collectives::pairwise_reduce_scatter};
constexpr Kind reduce{.name = "reduce", .sums = true, .in_rank_order = collectives::line_reduce};
constexpr Kind allgather{.name = "allgather"};
constexpr Kind broadcast{.name = "broadcast"};
constexpr Kind all_to_all{.name = "all_to_all", .require = [](const Problem& problem) {
                            if (problem.count % problem.ranks != 0)
                              throw Error(
                                  "all_to_all exchanges equal blocks, which {} elements are "
                                  "not for {} ranks",
                                  problem.count, problem.ranks);
                          }};
constexpr Kind neighbour_exchange{
    .name = "neighbour_exchange", .elements = [](const Problem& problem, int rank) {
      const auto neighbours = collectives::ring_neighbours(problem.ranks, rank).size();
      return (1 + static_cast<std::int64_t>(neighbours)) * problem.count;
    }};

// A connection that has rested starts slowly, which prices don't account for. So between nodes, of
// algorithms with nearly the least price, the first in the list is taken: those that keep to few
// peers stand first.
constexpr double as_good_between_nodes = 1.02;

// A lower bound of what the algorithm is predicted to take, quick to compute.
double least_seconds(const Collective& candidate, const TransportFacts& facts,
                     const CollectiveArgs& args) {
  const Network& network = facts.network;
  if (!candidate.actions)
    return candidate.seconds(network, facts.size, args.count * bytes_of(args.dtype),
                             args.fixed_order);
  const Problem problem{facts.size, args.count, args.dtype, network.node_ranks};
  const int rank = 0;  // all ranks must agree
  return collectives::least_price(candidate.actions(problem, rank, args.fixed_order), rank,
                                  args.dtype, network);
}

}  // namespace

List<Collective> allreduces() {
  return {allreduce.name,
          {collectives::direct(), collectives::staged(),
           scheduled(allreduce, "ring", "parts go around a ring: least volume, 2(P−1) steps",
                     collectives::ring_allreduce),
           scheduled(allreduce, "tree", "sums go up a binomial tree and the result comes down",
                     collectives::tree_allreduce),
           scheduled(allreduce, "butterfly",
                     "recursive doubling: log2 P steps of whole vectors, for short ones",
                     collectives::butterfly_allreduce),
           scheduled(allreduce, "rabenseifner",
                     "recursive halving and doubling: 2 log2 P steps, least volume if P = 2^k",
                     collectives::rabenseifner_allreduce),
           scheduled(allreduce, "hierarchical", "within nodes, then across them (node_ranks)",
                     collectives::hierarchical_allreduce),
           scheduled(allreduce, "chain",
                     "sums go up from rank to rank and come down, always in rank order",
                     collectives::chain_allreduce),
           collectives::own_allreduce()}};
}

List<Collective> reduce_scatters() {
  return {reduce_scatter.name,
          {collectives::direct_reduce_scatter(),
           scheduled(reduce_scatter, "ring", "sums of parts go around a ring: least volume",
                     collectives::ring_reduce_scatter),
           scheduled(reduce_scatter, "bruck", "dissemination: least volume, ⌈log2 P⌉ steps",
                     collectives::bruck_reduce_scatter),
           scheduled(reduce_scatter, "pairwise",
                     "every rank with every other, always in rank order; keeps all that arrives",
                     collectives::pairwise_reduce_scatter)}};
}

List<Collective> reduces() {
  return {reduce.name,
          {scheduled(reduce, "tree", "up a binomial tree: additions ⌈log2 P⌉ deep",
                     collectives::tree_reduce_all),
           scheduled(reduce, "line", "from rank to rank, always in rank order: additions P−1 deep",
                     collectives::line_reduce)}};
}

List<Collective> allgathers() {
  return {allgather.name,
          {collectives::direct_allgather(),
           scheduled(allgather, "ring", "parts go around a ring: least volume",
                     collectives::ring_allgather),
           scheduled(allgather, "bruck", "dissemination: least volume, ⌈log2 P⌉ steps",
                     collectives::bruck_allgather)}};
}

List<Collective> broadcasts() {
  return {broadcast.name,
          {scheduled(broadcast, "tree", "down a binomial tree", collectives::tree_broadcast_all)}};
}

List<Collective> all_to_alls() {
  return {all_to_all.name,
          {scheduled(all_to_all, "pairwise", "every rank with every other",
                     collectives::pairwise_all_to_all)}};
}

List<Collective> neighbour_exchanges() {
  return {neighbour_exchange.name,
          {scheduled(neighbour_exchange, "ring", "with the rank before and the one after",
                     collectives::ring_exchange)}};
}

Collective choose(const List<Collective>& list, const std::string& name,
                  const TransportFacts& facts, const CollectiveArgs& args) {
  if (name != "auto") {
    const Collective& named = list.find(name);
    if (!named.supports(facts))
      throw Error("{} '{}' does not work on this transport", list.kind(), name);
    return named;
  }
  // Algorithms that can't win are not priced, as pricing a schedule of many ranks takes long.
  struct Candidate {
    const Collective* entry;
    double least_seconds;
    double seconds = std::numeric_limits<double>::infinity();
  };
  std::vector<Candidate> candidates;
  for (const Collective& entry : list) {
    if (!entry.supports(facts) || args.count * bytes_of(args.dtype) > entry.most_bytes) continue;
    if (!entry.schedule && facts.shared_memory) return entry;
    candidates.push_back({&entry, least_seconds(entry, facts, args)});
  }
  check(!candidates.empty(), "what is scheduled works on every transport");
  std::vector<Candidate*> cheapest_first;
  for (Candidate& candidate : candidates) cheapest_first.push_back(&candidate);
  std::stable_sort(
      cheapest_first.begin(), cheapest_first.end(),
      [](const Candidate* a, const Candidate* b) { return a->least_seconds < b->least_seconds; });
  const double as_good = facts.piece_bytes == 0 ? 1 : as_good_between_nodes;
  double least = std::numeric_limits<double>::infinity();
  for (Candidate* candidate : cheapest_first) {
    if (candidate->least_seconds > least * as_good) continue;
    candidate->seconds = candidate->entry->seconds(
        facts.network, facts.size, args.count * bytes_of(args.dtype), args.fixed_order);
    least = std::min(least, candidate->seconds);
  }
  return *std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
            return candidate.seconds <= least * as_good;
          })->entry;
}

namespace collectives {

void require_summable(const char* what, const CollectiveArgs& args) {
  if (args.combine == nullptr && !is_float(args.dtype) && args.dtype != DType::bf16)
    throw Error("{} adds f32, bf16 or f64, not {}", what, name_of(args.dtype));
}

Combine combine_of(const CollectiveArgs& args) {
  if (args.combine != nullptr) return args.combine;
  Combine adds = nullptr;
  if (is_float(args.dtype) || args.dtype == DType::bf16)
    dispatch_real(args.dtype, [&]<class T>(T) {
      adds = [](void* into, const void* from, std::int64_t count) {
        accumulate(static_cast<T*>(into), static_cast<const T*>(from), count);
      };
    });
  return adds;
}

void require_shared_memory(const char* what, const Group& group) {
  if (!group.facts().shared_memory)
    throw Error("{} 'direct' needs ranks that share memory; use 'ring'", what);
}

}  // namespace collectives
}  // namespace tutti
