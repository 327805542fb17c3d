// SPDX-License-Identifier: Apache-2.0
// Typed settings. Everything in a list declares its settings (name, default, range, doc); from the
// declarations alone come validation with good messages, help texts, printing and equality.
#pragma once

#include "tutti/core/error.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti {

using SettingValue = std::variant<bool, std::int64_t, double, std::string,
                                  std::vector<std::int64_t>, std::vector<double>>;

struct Setting {
  std::string name;
  SettingValue initial;  // the default; its type is the setting's type
  std::string doc;
  // Bounds of a number, or of each number in a list.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  std::vector<std::string> choices = {};  // the values that a string may have; empty: any
  bool required = false;                  // no default: `initial` only gives the type
};

// Values by name. Looking up an absent name is a bug: resolve() has filled the defaults.
class Settings {
 public:
  Settings() = default;
  Settings(std::initializer_list<std::pair<const std::string, SettingValue>> values)
      : values_(values) {}

  template <class T>
  const T& get(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end() || !std::holds_alternative<T>(found->second))
      check(false, fmt::format("setting '{}' exists with the type asked for", name).c_str());
    return std::get<T>(found->second);
  }
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  double real(std::string_view name) const { return get<double>(name); }
  bool flag(std::string_view name) const { return get<bool>(name); }
  const std::string& text(std::string_view name) const { return get<std::string>(name); }
  const std::vector<std::int64_t>& integers(std::string_view name) const {
    return get<std::vector<std::int64_t>>(name);
  }

  const std::vector<double>& reals(std::string_view name) const {
    return get<std::vector<double>>(name);
  }

  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  void set(std::string_view name, SettingValue value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }
  void erase(std::string_view name) {
    if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
  }
  const std::map<std::string, SettingValue, std::less<>>& values() const { return values_; }
  bool operator==(const Settings&) const = default;

 private:
  std::map<std::string, SettingValue, std::less<>> values_;
};

// Fills defaults and validates: unknown names (with the nearest one), types, ranges, choices.
// `where` begins every message, e.g. "recipe.toml:7: [model]".
Settings resolve(const std::vector<Setting>& declared, const Settings& given,
                 std::string_view where);

// Several declarations as one.
std::vector<Setting> joined(const std::vector<std::vector<Setting>>& parts);

// `value` converted to the declared type where nothing is lost (1 → 1.0, 3 → "3", 0.5 → [0.5]), and
// checked against bounds and choices. Throws Error where the value does not conform.
SettingValue conform(const Setting& declared, const SettingValue& value, std::string_view where);

std::string to_string(const SettingValue& value);
// The type in words, for messages: "a list of integers".
std::string type_name(const SettingValue& value);

// The declaration in one line for help texts: "rate = 0.1   learning rate, 0 to 10".
std::string describe(const Setting& setting);

}  // namespace tutti
