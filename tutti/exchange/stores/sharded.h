// SPDX-License-Identifier: Apache-2.0
// What stores have in common in which a rank owns a part of every block.
#pragma once

#include "tutti/exchange/block_nodes.h"

#include <vector>

namespace tutti {

// Gradients that are whole on every rank: of each block this rank's part of the sum.
std::vector<ValueId> collect_parts(BlockNodes& nodes, const std::vector<FilledBlock>& blocks);

}  // namespace tutti
