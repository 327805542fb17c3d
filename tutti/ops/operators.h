// SPDX-License-Identifier: Apache-2.0
// The list of operators. A new operator is a file beside this one and a line in operators.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/graph/op.h"

namespace tutti::ops {

// An entry of the list; nodes point to the operator itself.
struct OpEntry {
  std::string name;
  const Op* op = nullptr;
};

List<OpEntry> operators();

}  // namespace tutti::ops
