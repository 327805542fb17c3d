// SPDX-License-Identifier: Apache-2.0
#include "cli/shipped.h"

#include "tutti/core/nearest.h"
#include "tutti/core/own_program.h"
#include "tutti/recipe/default_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

List<ShippedFile> files_in(const std::string& folder, const std::string& kind) {
  const fs::path program = fs::path(own_program()).parent_path();
  const fs::path installed = (program / TUTTI_DATA_FROM_PROGRAM).lexically_normal();
  const fs::path root = fs::is_directory(program / folder) ? program : installed;
  // The build tree has links to the sources. Following them gives a recipe one path, whether it is
  // called by path or by name.
  std::error_code missing;
  const fs::path there = fs::canonical(root / folder, missing);
  return shipped_files(missing ? root : there.parent_path(), folder, kind);
}

}  // namespace

List<ShippedFile> shipped_recipes() { return files_in("recipes", "recipe"); }
List<ShippedFile> shipped_machines() { return files_in("machines", "machine"); }

bool is_file(const std::string& path) {
  std::error_code missing;
  return fs::exists(path, missing) && !fs::is_directory(path, missing);
}

std::optional<Recipe> read_named(const std::string& named, List<ShippedFile> (*shipped)()) {
  if (is_file(named)) return read_recipe(named);
  const List<ShippedFile> files = shipped();
  const auto found = [&](const std::string& name) {
    return std::find_if(files.begin(), files.end(),
                        [&](const ShippedFile& file) { return is_called(file, name); });
  };
  if (const auto file = found(named); file != files.end()) {
    // The default recipe by name is the same as without a name.
    if (file->name + ".toml" == default_recipe_file)
      return parse_recipe(default_recipe_text, default_recipe_file);
    return read_recipe(file->path);
  }
  const fs::path path = named;
  if (const auto file = found(path.stem().string());
      path.extension() == ".toml" && file != files.end())
    throw Error("there is no file {}; the {} of that name that comes with tutti is '{}'", named,
                files.kind(), file->name);
  std::error_code missing;
  if (!path.has_extension() && !fs::exists(path, missing)) return std::nullopt;
  return read_recipe(named);  // throws Error that says why the file can't be read
}

std::string nearest_of(const std::string& named, const std::vector<std::string>& names,
                       const std::string& lists) {
  if (names.empty()) return "; none came with this program";
  return fmt::format("{} (see: {})", suggestion(fs::path(named).filename().string(), names), lists);
}

}  // namespace tutti::cli
