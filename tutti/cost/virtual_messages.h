// SPDX-License-Identifier: Apache-2.0
// The messages of compiled steps as operations of virtual ranks. A collective of one name and kind
// is one operation, whichever role and step it stands in; a single message is an operation of its
// rank, and both of its ends know it by its name.
#pragma once

#include "tutti/comm/sim/virtual_ranks.h"
#include "tutti/exec/compiled_step.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

class VirtualMessages {
 public:
  // By message of a step: the number of its operation. The ranks of a role run the step.
  std::vector<int> operations_of(const CompiledStep& step, const std::vector<int>& ranks);
  // Adds the operations to the virtual ranks, when those of all roles are known.
  void add_to(sim::VirtualRanks& ranks) const;
  // A rank's end of a single message.
  sim::MessageEnd end_of(const CompiledStep& step, NodeId node, int peer);

 private:
  sim::VirtualOperation operation_of(const CompiledStep& step, NodeId node);
  void add_schedules(const CompiledStep& step, NodeId node, const std::vector<int>& ranks,
                     sim::VirtualOperation& operation);
  std::shared_ptr<const sim::MatchedSchedule> schedule_of(const CompiledStep& step, NodeId node,
                                                          const sim::RankGroups* groups,
                                                          std::size_t group);
  std::shared_ptr<const sim::RankGroups> groups_of(const CompiledStep& step,
                                                   const std::string& axes);

  std::map<std::pair<MessageName, MessageKind>, int> numbers_;  // in operations_
  std::vector<sim::VirtualOperation> operations_;
  std::map<MessageName, int> singles_;
  std::map<std::string, std::shared_ptr<const sim::RankGroups>> groups_;  // by axes
  std::map<std::tuple<MessageKind, std::string, std::int64_t, DType, int, int>,
           std::shared_ptr<const sim::MatchedSchedule>>
      schedules_;
};

}  // namespace tutti
