// SPDX-License-Identifier: Apache-2.0
// Samples of any shape made from counter-based random numbers, for tests, benches and simulations.
#pragma once

#include "tutti/data/dataset.h"

namespace tutti::data {

DatasetEntry synthetic();

}  // namespace tutti::data
