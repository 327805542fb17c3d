// SPDX-License-Identifier: Apache-2.0
// Some of the ranks of a communicator, counted from 0 in an order of their own: those along one or
// several axes of a mesh, or all. Collectives are operations of a group, and a group of one is no
// special case.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/core/mesh.h"

#include <memory>
#include <vector>

namespace tutti {

class Group {
 public:
  Group(Communicator& all) : all_(&all), facts_(all.facts()) {}  // NOLINT: all ranks are a group
  // `members` are distinct ranks, this one among them; all of them state the same list.
  Group(Communicator& all, std::vector<int> members);

  // This rank's place in the group.
  int rank() const { return facts_.rank; }
  int size() const { return facts_.size; }
  bool is_everyone() const { return members_ == nullptr; }
  // The communicator's rank of the member with this index.
  int member(int index) const {
    return members_ == nullptr ? index : (*members_)[static_cast<std::size_t>(index)];
  }
  // The transport's facts seen from this group; plans are made from them.
  const TransportFacts& facts() const { return facts_; }
  Communicator& communicator() const { return *all_; }

 private:
  Communicator* all_;
  std::shared_ptr<const std::vector<int>> members_;  // nullptr: all ranks
  TransportFacts facts_;
};

// The facts of a transport seen from a group of its ranks.
TransportFacts facts_of(const TransportFacts& all, const std::vector<int>& members);

// The ranks of the mesh that differ from this one along these axes only.
Group group_along(Communicator& communicator, const Mesh& mesh,
                  const std::vector<std::string>& axes);

}  // namespace tutti
