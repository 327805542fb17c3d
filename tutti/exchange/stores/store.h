// SPDX-License-Identifier: Apache-2.0
// Stores say who holds what of the flat vectors, and how a block's gradients come together and its
// new weights to those who read them. A new store is a file in this folder and a line in
// stores.cpp.
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
  bool keeps_parts = false;  // and keeps no more than that of weights and gradients
  // Adds what makes the gradients to update with, block by block, and returns them.
  std::vector<ValueId> (*collect)(BlockNodes&, const std::vector<FilledBlock>&) = nullptr;
  // Adds what hands on the new weights of a block; nullptr: nobody else reads them.
  void (*publish)(BlockNodes&, const Block&, ValueId weights) = nullptr;
  // Where ranks do not meet: adds what pushes the blocks of a step to the endpoints and pulls new
  // weights; Σ g² of the rank becomes a result there. nullptr: they must meet.
  void (*push)(BlockNodes&, const std::vector<FilledBlock>&,
               std::int64_t results_offset_bytes) = nullptr;
  // Adds what brings weights to the nodes that read them; nullptr: they are there.
  void (*fetch)(Graph&, const RangeTable&, DType, const StepClosing&,
                const std::string& axis) = nullptr;
};

List<Store> stores();

}  // namespace tutti
