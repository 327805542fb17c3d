// SPDX-License-Identifier: Apache-2.0
// The recipes and machines that come with this program, by name. They lie beside the program (in
// the build tree and in bundles), or where `cmake --install` puts them under the program's prefix.
#pragma once

#include "tutti/recipe/recipe.h"
#include "tutti/recipe/shipped.h"

#include <optional>
#include <string>

namespace tutti::cli {

List<ShippedFile> shipped_recipes();
List<ShippedFile> shipped_machines();

// Whether there is something to read at this path.
bool is_file(const std::string& path);

// The file at the path `named`, or else the shipped file of this name. Nothing when `named` can
// only be a name and no shipped file has it.
std::optional<Recipe> read_named(const std::string& named, List<ShippedFile> (*shipped)());

// The end of a message about an unknown name: the nearest of `names`, and the command that lists
// them.
std::string nearest_of(const std::string& named, const std::vector<std::string>& names,
                       const std::string& lists);

}  // namespace tutti::cli
