// SPDX-License-Identifier: Apache-2.0
// Rows of text in aligned columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::cli {

// The rows as lines of text. Lines begin with two blanks and end without any.
std::string in_columns(const std::vector<std::vector<std::string>>& rows);

}  // namespace tutti::cli
