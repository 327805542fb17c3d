// SPDX-License-Identifier: Apache-2.0
// The messages of a compiled step as operations of a communicator, which can be started every step.
#pragma once

#include "tutti/comm/group.h"
#include "tutti/exec/compiled_step.h"

#include <map>
#include <memory>
#include <string>

namespace tutti {

class MessageOperations {
 public:
  // Both must outlive what is made.
  MessageOperations(const CompiledStep& step, Communicator* communicator)
      : step_(step), communicator_(communicator) {}

  std::unique_ptr<Operation> make(int node);

 private:
  const Group& group_along(const std::string& axes);

  const CompiledStep& step_;
  Communicator* communicator_;
  std::map<std::string, Group> groups_;  // by axes
};

}  // namespace tutti
