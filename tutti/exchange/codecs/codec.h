// SPDX-License-Identifier: Apache-2.0
// Codecs say in what form a block of the gradient travels. A codec is an operator in ops/ with its
// kernels, and an entry here that puts it into the graph: a file in this folder and a line in
// codecs.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"
#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

struct Codec {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  DType dtype = DType::f32;  // of what travels; encoded vectors have the length of plain ones
  // Add the node that encodes a block, and the one that makes it a block of `dtype` again. nullptr:
  // blocks travel as they are. Encoded vectors are summed as they are.
  ValueId (*encode)(Graph&, const Settings&, ValueId plain) = nullptr;
  ValueId (*decode)(Graph&, const Settings&, ValueId encoded, DType dtype) = nullptr;
};

List<Codec> codecs();

}  // namespace tutti
