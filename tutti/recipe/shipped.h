// SPDX-License-Identifier: Apache-2.0
// Files that come with the program: recipes by kind, descriptions of machines. A name stands for
// one file only, whatever its folder, so that the name alone is enough.
#pragma once

#include "tutti/core/list.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace tutti {

struct ShippedFile {
  std::string name;    // "async"
  std::string folder;  // "recipes/schemes"
  std::string path;    // of the file, async.toml
  std::string text;    // content of the file
  std::string doc;     // the first sentence of the comment that it begins with
};

// The TOML files in `root`/`folder` and below it, by folder and name; none where there is no such
// folder. `kind` is the noun of messages.
List<ShippedFile> shipped_files(const std::filesystem::path& root, const std::string& folder,
                                const std::string& kind);

// Whether these words mean the file: its name, with its folders before it or without some of them
// ("async", "schemes/async", "recipes/schemes/async").
bool is_called(const ShippedFile& file, std::string_view words);

// The comment that a TOML text begins with, as one line.
std::string opening_comment(const std::string& text);

}  // namespace tutti
