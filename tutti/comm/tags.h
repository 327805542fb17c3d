// SPDX-License-Identifier: Apache-2.0
// The numbers by which messages are told apart. A message is known by its group, by the name of the
// block or value that it carries, and by its micro-batch; these are equal on all ranks, whatever
// program they run, and so is the number that is made of them, without asking anyone.
#pragma once

#include <compare>
#include <map>
#include <string>

namespace tutti {

struct MessageName {
  std::string group = "";  // the mesh axes of the group; empty: all ranks
  std::string what;        // "reduce_scatter of fc1.weight", "the stop word"
  int micro_batch = 0;
  auto operator<=>(const MessageName&) const = default;
};

class Tags {
 public:
  // Tags are below this: what every MPI library allows.
  static constexpr int end = 1 << 28;

  // The tag of a message, the same whenever it is asked. Two names with one number are an Error:
  // one message would be taken for the other.
  int of(const MessageName& name);

 private:
  std::map<int, MessageName> names_;  // by tag
};

}  // namespace tutti
