// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/group.h"

#include <algorithm>

namespace tutti {
namespace {

// How many consecutive members lie on one node, where all nodes but the last hold equally many;
// else 1.
int ranks_of_a_node(const std::vector<int>& members, int node_ranks) {
  const auto node = [&](std::size_t k) { return members[k] / node_ranks; };
  std::size_t row = 1;
  while (row < members.size() && node(row) == node(0)) ++row;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const std::size_t first = k - k % row;
    if (node(k) != node(first)) return 1;
    if (k == first && k > 0 && node(k) == node(k - 1)) return 1;
  }
  return static_cast<int>(row);
}

}  // namespace

TransportFacts facts_of(const TransportFacts& all, const std::vector<int>& members) {
  TransportFacts facts = all;
  const auto own = std::find(members.begin(), members.end(), all.rank);
  check(own != members.end(), "a rank is in its own groups");
  facts.rank = static_cast<int>(own - members.begin());
  facts.size = static_cast<int>(members.size());
  facts.network.node_ranks = ranks_of_a_node(members, all.network.node_ranks);
  facts.own_allreduce = false;
  return facts;
}

Group::Group(Communicator& all, std::vector<int> members) : Group(all) {
  std::vector<int> everyone(static_cast<std::size_t>(all.size()));
  for (std::size_t k = 0; k < everyone.size(); ++k) everyone[k] = static_cast<int>(k);
  if (members == everyone) return;
  for (const int rank : members)
    check(rank >= 0 && rank < all.size(), "members of a group are ranks of its communicator");
  facts_ = facts_of(all.facts(), members);
  members_ = std::make_shared<const std::vector<int>>(std::move(members));
}

Group group_along(Communicator& communicator, const Mesh& mesh,
                  const std::vector<std::string>& axes) {
  check(mesh.ranks() == communicator.size(), "the mesh has the ranks of the communicator");
  return {communicator, mesh.members(communicator.rank(), axes)};
}

}  // namespace tutti
