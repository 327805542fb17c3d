// SPDX-License-Identifier: Apache-2.0
// What `tutti train` does when it is given no recipe. recipes/digits.toml holds the same text.
#pragma once

#include <string_view>

namespace tutti {

extern const std::string_view default_recipe_text;
constexpr const char* default_recipe_file = "digits.toml";

}  // namespace tutti
