// SPDX-License-Identifier: Apache-2.0
#include "tutti/report/texts.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tutti::report {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

std::string plain(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : ""; }

std::string percent(double part) {
  return std::isfinite(part) ? fmt::format("{:.2f} %", 100 * part) : "";
}

std::string whole(double value) {
  if (!std::isfinite(value)) return "";
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), "\u2009");  // a thin space
  return digits;
}

std::string bytes(double count) {
  if (!std::isfinite(count) || count <= 0) return "";
  if (count >= 1e9) return fmt::format("{:.4g} GB", count * 1e-9);
  if (count >= 1e6) return fmt::format("{:.4g} MB", count * 1e-6);
  return count >= 1e3 ? fmt::format("{:.4g} kB", count * 1e-3) : fmt::format("{:.0f} B", count);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "";
  if (seconds < 60) return fmt::format("{:.2f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  if (minutes < 60)
    return fmt::format("{} min {:.0f} s", minutes,
                       std::floor(seconds) - 60. * static_cast<double>(minutes));
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string brief_duration(double seconds) {
  if (!std::isfinite(seconds)) return "";
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3g} ms", seconds * 1e3)
                         : fmt::format("{:.3g} µs", seconds * 1e6);
}

std::string color_of(std::size_t run) { return fmt::format("style=\"--c:var(--c{})\"", run % 8); }

}  // namespace tutti::report
