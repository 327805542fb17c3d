// SPDX-License-Identifier: Apache-2.0
// The messages of a compiled step as operations of a communicator, which can be started every step.
#pragma once

#include "tutti/comm/group.h"
#include "tutti/core/device.h"
#include "tutti/exec/compiled_step.h"

#include <map>
#include <memory>
#include <string>

namespace tutti {

class MessageOperations {
 public:
  // All arguments must outlive the operations that are made.
  MessageOperations(const CompiledStep& step, Communicator* communicator, const Device& device,
                    const Streams& streams)
      : step_(step), communicator_(communicator), device_(device), streams_(streams) {}

  // The operation of a node that is a message.
  std::unique_ptr<Operation> make(int node);

 private:
  std::unique_ptr<Operation> make_on_host(int node);
  std::unique_ptr<Operation> make_single(int node, bool sends);
  const Group& group_along(const std::string& axes);

  const CompiledStep& step_;
  Communicator* communicator_;
  const Device& device_;
  const Streams& streams_;
  std::map<std::string, Group> groups_;  // by axes
};

}  // namespace tutti
