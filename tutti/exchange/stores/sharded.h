// SPDX-License-Identifier: Apache-2.0
// What the stores in which a rank owns a part of every block have in common.
#pragma once

#include "tutti/exchange/block_nodes.h"

#include <vector>

namespace tutti {

// Sums gradients that are whole on every rank. Returns this rank's part of the sum, for each block.
std::vector<ValueId> collect_parts(BlockNodes& nodes, const std::vector<FilledBlock>& blocks);

}  // namespace tutti
