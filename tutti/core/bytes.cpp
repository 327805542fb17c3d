// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/bytes.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace tutti {

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; number >= 1024 && unit + 1 < units.size(); ++unit) number /= 1024;
  return fmt::format("{:.{}f} {}", number, unit == 0 ? 0 : 2, units[unit]);
}

std::optional<std::int64_t> bytes_in(std::string_view text) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  constexpr std::array<Unit, 10> units = {{{"", 1},
                                           {"B", 1},
                                           {"kB", 1e3},
                                           {"KB", 1e3},
                                           {"MB", 1e6},
                                           {"GB", 1e9},
                                           {"TB", 1e12},
                                           {"KiB", 1024},
                                           {"MiB", 1024.0 * 1024},
                                           {"GiB", 1024.0 * 1024 * 1024}}};
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || !(number >= 0) || number > 1e15) return std::nullopt;
  std::string_view name(rest, static_cast<std::size_t>(end - rest));
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (const Unit& unit : units)
    if (unit.name == name) return static_cast<std::int64_t>(std::llround(number * unit.bytes));
  return std::nullopt;
}

}  // namespace tutti
