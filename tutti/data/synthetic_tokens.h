// SPDX-License-Identifier: Apache-2.0
// Sequences of tokens of different lengths made from counter-based random numbers, each sequence
// with some numbers beside it, for tests, benches and simulations of networks with several inputs.
#pragma once

#include "tutti/data/dataset.h"

namespace tutti::data {

DatasetEntry synthetic_tokens();

}  // namespace tutti::data
