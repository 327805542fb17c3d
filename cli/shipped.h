// SPDX-License-Identifier: Apache-2.0
// The recipes and machines that come with this program, by name. They stand beside the program (in
// the build tree and in bundles) or in the folder of its prefix that `cmake --install` puts them
// in.
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

// The file at the path, or else the shipped one that is called so. None: it can only be a name, and
// no file has it.
std::optional<Recipe> read_named(const std::string& named, List<ShippedFile> (*shipped)());

// The end of a message about a name that nothing has: the nearest of these names, and how to list
// them.
std::string nearest_of(const std::string& named, const std::vector<std::string>& names,
                       const std::string& lists);

}  // namespace tutti::cli
