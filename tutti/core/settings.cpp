// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/settings.h"

#include "tutti/core/nearest.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

const Setting* find(const std::vector<Setting>& declared, std::string_view name) {
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == declared.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const std::vector<Setting>& declared) {
  std::vector<std::string> names;
  for (const Setting& setting : declared) names.push_back(setting.name);
  return names;
}

std::string range_of(const Setting& setting) {
  const bool low = setting.min > -std::numeric_limits<double>::infinity();
  const bool high = setting.max < std::numeric_limits<double>::infinity();
  if (low && high) return fmt::format("{} to {}", setting.min, setting.max);
  if (low) return fmt::format("at least {}", setting.min);
  if (high) return fmt::format("at most {}", setting.max);
  return "";
}

void check_range(const Setting& setting, double number, std::string_view where) {
  if (number >= setting.min && number <= setting.max && std::isfinite(number)) return;
  const std::string range = range_of(setting);
  throw Error("{}: '{}' is {}, expected {}", where, setting.name, number,
              range.empty() || std::isinf(number) ? "a finite number" : range);
}

}  // namespace

SettingValue conform(const Setting& declared, const SettingValue& value, std::string_view where) {
  SettingValue result = value;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    if (std::holds_alternative<double>(declared.initial)) result = static_cast<double>(*integer);
    if (std::holds_alternative<std::vector<std::int64_t>>(declared.initial))
      result = std::vector<std::int64_t>{*integer};
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    if (std::holds_alternative<std::string>(declared.initial) && declared.choices.empty())
      result = std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value))
    if (std::holds_alternative<std::string>(declared.initial) && declared.choices.empty())
      result = fmt::format("{}", *real);
  if (std::holds_alternative<std::vector<double>>(declared.initial)) {
    if (const auto* integer = std::get_if<std::int64_t>(&value))
      result = std::vector<double>{static_cast<double>(*integer)};
    if (const auto* real = std::get_if<double>(&value)) result = std::vector<double>{*real};
  }
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value))
    if (std::holds_alternative<std::vector<double>>(declared.initial))
      result = std::vector<double>(list->begin(), list->end());
  if (result.index() != declared.initial.index())
    throw Error("{}: '{}' is {} ({}), expected {}", where, declared.name, type_name(value),
                to_string(value), type_name(declared.initial));
  if (const auto* integer = std::get_if<std::int64_t>(&result))
    check_range(declared, static_cast<double>(*integer), where);
  if (const auto* real = std::get_if<double>(&result)) check_range(declared, *real, where);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&result))
    for (std::int64_t entry : *list) check_range(declared, static_cast<double>(entry), where);
  if (const auto* list = std::get_if<std::vector<double>>(&result))
    for (double entry : *list) check_range(declared, entry, where);
  if (const auto* text = std::get_if<std::string>(&result)) {
    const auto& choices = declared.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), *text) == choices.end())
      throw Error("{}: '{}' is \"{}\"{}", where, declared.name, *text, suggestion(*text, choices));
  }
  return result;
}

Settings resolve(const std::vector<Setting>& declared, const Settings& given,
                 std::string_view where) {
  Settings resolved;
  for (const auto& [name, value] : given.values()) {
    const Setting* setting = find(declared, name);
    if (setting == nullptr)
      throw Error("{}: unknown key '{}'{}", where, name, suggestion(name, names_of(declared)));
    resolved.set(name, conform(*setting, value, where));
  }
  for (const Setting& setting : declared) {
    if (resolved.has(setting.name)) continue;
    if (setting.required)
      throw Error("{}: '{}' is missing, expected {}: {}", where, setting.name,
                  type_name(setting.initial), setting.doc);
    resolved.set(setting.name, setting.initial);
  }
  return resolved;
}

std::vector<Setting> joined(const std::vector<std::vector<Setting>>& parts) {
  std::vector<Setting> all;
  for (const std::vector<Setting>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string to_string(const SettingValue& value) {
  struct Print {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double real) const { return fmt::format("{}", real); }
    std::string operator()(const std::string& text) const { return fmt::format("\"{}\"", text); }
    std::string operator()(const std::vector<std::int64_t>& list) const {
      return fmt::format("[{}]", fmt::join(list, ", "));
    }
    std::string operator()(const std::vector<double>& list) const {
      return fmt::format("[{}]", fmt::join(list, ", "));
    }
  };
  return std::visit(Print{}, value);
}

std::string type_name(const SettingValue& value) {
  constexpr const char* names[] = {"true or false", "an integer",         "a number",
                                   "a string",      "a list of integers", "a list of numbers"};
  return names[value.index()];
}

std::string describe(const Setting& setting) {
  // Such a large bound is only there to keep integers exact in a double; help texts leave it out.
  constexpr double beyond_use = 1e9;
  Setting bounded = setting;
  if (bounded.max >= beyond_use) bounded.max = std::numeric_limits<double>::infinity();
  std::string text =
      fmt::format("{} = {}   {}", setting.name,
                  setting.required ? "(required)" : to_string(setting.initial), setting.doc);
  if (const std::string range = range_of(bounded); !range.empty()) text += ", " + range;
  if (!setting.choices.empty()) text += fmt::format(": {}", fmt::join(setting.choices, ", "));
  return text;
}

}  // namespace tutti
