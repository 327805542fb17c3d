// SPDX-License-Identifier: Apache-2.0
// State that streams of samples carry from step to step: sample i of every batch goes on where
// sample i of the batch before has ended. The state is a flat vector cut by stream: a rank holds
// the state of the streams that it trains on. It is never averaged over ranks.
#pragma once

#include "tutti/core/flat.h"
#include "tutti/exec/vectors.h"

namespace tutti {

// The state of all streams of a batch, cut over ranks as the batch is.
FlatVector carried_vector(const RangeTable& table, DType dtype, int rank, int ranks);

}  // namespace tutti
