// SPDX-License-Identifier: Apache-2.0
// The settings of a recipe that do not depend on what is chosen in it.
#pragma once

#include "tutti/recipe/lists.h"

#include <string_view>
#include <vector>

namespace tutti {

// The keys that a table may hold whatever is chosen in it, with defaults; entries that are chosen
// add their own.
std::vector<Setting> declared_settings(const Lists& lists, std::string_view table);

}  // namespace tutti
