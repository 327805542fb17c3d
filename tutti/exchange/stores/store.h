// SPDX-License-Identifier: Apache-2.0
// Stores say which rank holds what of the flat vectors, how the gradients of a block are summed,
// and how its new weights reach the ranks that read them. A new store is a file in this folder and
// a line in stores.cpp.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"
#include "tutti/graph/graph.h"

#include <string>
#include <vector>

namespace tutti {

class BlockNodes;
struct Block;
struct FilledBlock;
struct StepClosing;

struct Store {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  bool owns_parts = false;   // a rank updates, and keeps the state of, its part of every block
  bool keeps_parts = false;  // of weights and gradients, too, a rank keeps only its part
  // Adds the nodes that sum the gradients. Returns what to update with, block by block.
  std::vector<ValueId> (*collect)(BlockNodes&, const std::vector<FilledBlock>&) = nullptr;
  // Adds the nodes that hand on the new weights of a block; nullptr: no other rank reads them.
  void (*publish)(BlockNodes&, const Block&, ValueId weights) = nullptr;
  // Where ranks do not meet: adds the nodes that push the blocks of a step to the endpoints and
  // pull new weights. Σ g² of the rank becomes a result at the offset. nullptr: ranks must meet.
  void (*push)(BlockNodes&, const std::vector<FilledBlock>&,
               std::int64_t results_offset_bytes) = nullptr;
  // Adds the nodes that gather weights before they are read; nullptr: each rank has them all.
  void (*fetch)(Graph&, const RangeTable&, DType, const StepClosing&,
                const std::string& axis) = nullptr;
};

List<Store> stores();

}  // namespace tutti
