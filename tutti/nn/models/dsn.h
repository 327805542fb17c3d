// SPDX-License-Identifier: Apache-2.0
// What `tutti stack`, which fits a deep stacking network module by module, needs to know of it.
#pragma once

#include "tutti/nn/net.h"

#include <string>

namespace tutti::nn {

// The layer whose weights turn the hidden units of module k = 1, 2 … into its output.
std::string dsn_output_name(std::int64_t module);

// The same network cut off behind the hidden units of its last module, which are its output.
// Settings: `modules`, `hidden` and `outputs` of each module.
extern const Model dsn_hidden;

}  // namespace tutti::nn
