// SPDX-License-Identifier: Apache-2.0
// A recipe: the TOML file that describes a run, as tables of settings that remember where each key
// was written, so that every message can name file, line and key. What the tables may hold is
// declared by those who read them; this file knows only their names.
#pragma once

#include "tutti/core/settings.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Recipe {
  std::string file = "recipe";  // named in messages
  std::map<std::string, Settings, std::less<>> tables = {};
  std::vector<Settings> layers = {};  // [[model.layers]], in order
  // Where a key ("train.batch", "model.layers[0].size"), a table ("train") or a layer
  // ("model.layers[0]") was written: "file.toml:7" or "--set train.batch=8".
  std::map<std::string, std::string, std::less<>> origins = {};
  // Keys ("data.name") that set() has changed, with the text that the file gave; empty: none.
  std::map<std::string, std::string, std::less<>> replaced = {};
};

// model, data, train …: the tables that a recipe may have, in the order in which they are printed.
const std::vector<std::string>& recipe_tables();

// Read a recipe: from a file, or from a text that messages call `file`. An Error names the line.
Recipe read_recipe(const std::string& path);
Recipe parse_recipe(std::string_view text, std::string file);

// Applies "table.key=value". The value is read as TOML; a bare word is a string.
void set(Recipe& recipe, std::string_view assignment);

// "file.toml:7: [train]": where a key, or else its table, was written.
std::string place_of(const Recipe& recipe, const std::string& table, const std::string& key = "");

// The table with defaults filled in, validated against the declarations.
Settings resolve_table(const Recipe& recipe, std::string_view table,
                       const std::vector<Setting>& declared);

// The same for one entry of [[model.layers]].
Settings resolve_layer(const Recipe& recipe, std::size_t index,
                       const std::vector<Setting>& declared);

// The recipe as TOML, which parse_recipe() reads back to the same settings.
std::string to_toml(const Recipe& recipe);

}  // namespace tutti
