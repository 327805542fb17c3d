// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/recipe.h"

#include "tutti/core/error.h"
#include "tutti/core/nearest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace tutti {
namespace {

constexpr std::string_view layers_key = "layers";

std::string place(const std::string& file, const toml::node& node) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

std::string layer_name(std::size_t index) { return fmt::format("model.layers[{}]", index); }

// A list of integers when all elements are integers, else of reals; nothing when some element is no
// number.
std::optional<SettingValue> list_of(const toml::array& array) {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  for (const toml::node& element : array) {
    if (!element.is_number()) return std::nullopt;
    if (element.is_integer()) integers.push_back(element.as_integer()->get());
    reals.push_back(element.is_integer() ? static_cast<double>(element.as_integer()->get())
                                         : element.as_floating_point()->get());
  }
  if (integers.size() == reals.size()) return integers;
  return reals;
}

// Nothing when a setting can't have such a value (a date, a table, a list of strings).
std::optional<SettingValue> value_of(const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* array = node.as_array()) return list_of(*array);
  return std::nullopt;
}

std::string type_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a mixed list";
  return "a date or time";
}

// The keys of one table or layer; `name` is "train" or "model.layers[0]", `title` is "[train]".
Settings settings_of(Recipe& recipe, const toml::table& table, const std::string& name,
                     std::string_view title) {
  Settings settings;
  for (const auto& [key, node] : table) {
    if (name == "model" && key.str() == layers_key) continue;
    const std::optional<SettingValue> value = value_of(node);
    const std::string at = place(recipe.file, node);
    if (!value)
      throw Error(
          "{}: {}: '{}' is {}, expected a number, a string, true, false or a list of numbers", at,
          title, key.str(), type_of(node));
    settings.set(key.str(), *value);
    recipe.origins[fmt::format("{}.{}", name, key.str())] = at;
  }
  return settings;
}

void parse_layers(Recipe& recipe, const toml::node& node) {
  const toml::array* layers = node.as_array();
  if (layers == nullptr || !std::all_of(layers->begin(), layers->end(),
                                        [](const toml::node& layer) { return layer.is_table(); }))
    throw Error(
        "{}: [model]: 'layers' is not a list of tables; write each layer under a heading "
        "[[model.layers]]",
        place(recipe.file, node));
  for (const toml::node& layer : *layers) {
    const std::string name = layer_name(recipe.layers.size());
    recipe.origins[name] = place(recipe.file, layer);
    recipe.layers.push_back(settings_of(recipe, *layer.as_table(), name, "[[model.layers]]"));
  }
}

void check_table_name(std::string_view name, const std::string& at) {
  const std::vector<std::string>& known = recipe_tables();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw Error("{}: unknown table [{}]{}", at, name, suggestion(name, known));
}

// The value of an assignment: TOML when it reads as one value, a bare word otherwise.
SettingValue parse_value(const std::string& text, std::string_view assignment) {
  try {
    const toml::table table = toml::parse("value = " + text);
    if (table.size() == 1 && table.get("value") != nullptr) {
      const toml::node& node = *table.get("value");
      if (const auto value = value_of(node)) return *value;
      if (!node.is_array() && !node.is_table()) return text;  // a date is a word here
    }
  } catch (const toml::parse_error&) {
    // Not TOML: a word, unless it begins like a string, a list or a table.
    if (!text.empty() && std::string_view("\"'[{").find(text[0]) == std::string_view::npos)
      return text;
  }
  throw Error(
      "--set {}: '{}' is no value; expected a number, a word, true, false or a list of "
      "numbers such as [1, 2]",
      assignment, text);
}

std::string toml_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += '\\', quoted += c;
    else if (c == '\n')
      quoted += "\\n";
    else if (c == '\t')
      quoted += "\\t";
    else if (code < 0x20 || code == 0x7f)
      quoted += fmt::format("\\u{:04X}", code);
    else
      quoted += c;
  }
  return quoted + "\"";
}

// With a point or an exponent, so that it stays a floating-point number.
std::string toml_real(double real) {
  const std::string text = fmt::format("{}", real);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string toml_value(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return toml_string(*text);
  if (const auto* real = std::get_if<double>(&value)) return toml_real(*real);
  if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
    std::vector<std::string> texts;
    for (double real : *reals) texts.push_back(toml_real(real));
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  return to_string(value);
}

std::string toml_key(const std::string& key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
  return bare ? key : toml_string(key);
}

void print_table(std::string& out, std::string_view heading, const Settings& settings) {
  out += fmt::format("{}{}\n", out.empty() ? "" : "\n", heading);
  for (const auto& [key, value] : settings.values())
    out += fmt::format("{} = {}\n", toml_key(key), toml_value(value));
}

// Each given key is validated at its own place; a missing key is reported at the place of its
// table.
Settings resolve_at(const Recipe& recipe, const Settings& given, const std::string& name,
                    std::string_view title, const std::vector<Setting>& declared) {
  const auto where = [&](const std::string& key) {
    const auto origin = recipe.origins.find(key);
    return fmt::format("{}: {}", origin == recipe.origins.end() ? recipe.file : origin->second,
                       title);
  };
  std::vector<Setting> optional = declared;
  for (Setting& setting : optional) setting.required = false;
  for (const auto& [key, value] : given.values())
    resolve(optional, {{key, value}}, where(fmt::format("{}.{}", name, key)));
  return resolve(declared, given, where(name));
}

}  // namespace

const std::vector<std::string>& recipe_tables() {
  static const std::vector<std::string> names = {"model",     "data",     "train",     "optimizer",
                                                 "partition", "exchange", "codec",     "memory",
                                                 "kernels",   "machine",  "simulation"};
  return names;
}

Recipe parse_recipe(std::string_view text, std::string file) {
  Recipe recipe{.file = std::move(file)};
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error("{}:{}: {}", recipe.file, error.source().begin.line, error.description());
  }
  for (const auto& [key, node] : root) {
    const std::string name(key.str()), at = place(recipe.file, node);
    if (!node.is_table() && !node.is_array_of_tables())
      throw Error("{}: '{}' stands in no table; expected it under one of [{}]", at, name,
                  fmt::join(recipe_tables(), "], ["));
    check_table_name(name, at);
    const toml::table* table = node.as_table();
    if (table == nullptr)
      throw Error("{}: [[{}]] is a list, expected a table [{}]", at, name, name);
    recipe.origins[name] = at;
    recipe.tables[name] = settings_of(recipe, *table, name, fmt::format("[{}]", name));
    if (name == "model" && table->contains(layers_key))
      parse_layers(recipe, *table->get(layers_key));
  }
  return recipe;
}

Recipe read_recipe(const std::string& path) {
  for (const char* ending : {".safetensors", ".state"})
    if (path.ends_with(ending))
      throw Error(
          "{} is a checkpoint, expected a recipe (TOML); its weights are given by --weights {}",
          path, path.substr(0, path.size() - std::strlen(ending)));
  std::ifstream file(path);
  std::ostringstream text;
  if (file && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad())
    throw Error("can't read recipe {}: {}", path, std::strerror(errno));
  return parse_recipe(text.str(), path);
}

void set(Recipe& recipe, std::string_view assignment) {
  const std::size_t equals = assignment.find('='), dot = assignment.find('.');
  if (equals == std::string_view::npos || dot == std::string_view::npos || dot == 0 ||
      dot + 1 >= equals)
    throw Error("--set {}: expected table.key=value, such as train.batch=64", assignment);
  const std::string table(assignment.substr(0, dot));
  const std::string key(assignment.substr(dot + 1, equals - dot - 1));
  const std::string at = fmt::format("--set {}", assignment);
  check_table_name(table, at);
  if (table == "model" && key.starts_with(layers_key))
    throw Error("{}: layers can't be set here; write them into the recipe", at);
  Settings& settings = recipe.tables[table];
  const auto before = settings.values().find(key);
  const auto* text =
      before == settings.values().end() ? nullptr : std::get_if<std::string>(&before->second);
  recipe.replaced.emplace(fmt::format("{}.{}", table, key), text == nullptr ? "" : *text);
  settings.set(key, parse_value(std::string(assignment.substr(equals + 1)), assignment));
  recipe.origins[fmt::format("{}.{}", table, key)] = at;
}

std::string place_of(const Recipe& recipe, const std::string& table, const std::string& key) {
  for (const std::string& name : {table + "." + key, table})
    if (const auto found = recipe.origins.find(name); found != recipe.origins.end())
      return fmt::format("{}: [{}]", found->second, table);
  return fmt::format("{}: [{}]", recipe.file, table);
}

Settings resolve_table(const Recipe& recipe, std::string_view table,
                       const std::vector<Setting>& declared) {
  const auto found = recipe.tables.find(table);
  return resolve_at(recipe, found == recipe.tables.end() ? Settings() : found->second,
                    std::string(table), fmt::format("[{}]", table), declared);
}

Settings resolve_layer(const Recipe& recipe, std::size_t index,
                       const std::vector<Setting>& declared) {
  return resolve_at(recipe, recipe.layers.at(index), layer_name(index), "[[model.layers]]",
                    declared);
}

std::string to_toml(const Recipe& recipe) {
  std::string out;
  for (const std::string& name : recipe_tables()) {
    if (const auto table = recipe.tables.find(name); table != recipe.tables.end())
      print_table(out, fmt::format("[{}]", name), table->second);
    if (name != "model") continue;
    for (const Settings& layer : recipe.layers) print_table(out, "[[model.layers]]", layer);
  }
  return out;
}

}  // namespace tutti
