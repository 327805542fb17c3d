// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tutti {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> two_above, above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above = std::exchange(above, row);
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitute = above[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string suggestion(std::string_view wrong, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "";
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(wrong, a) < edit_distance(wrong, b);
  };
  const auto best = std::min_element(candidates.begin(), candidates.end(), closer);
  if (edit_distance(wrong, *best) <= std::max<int>(1, (static_cast<int>(wrong.size()) + 1) / 3))
    return fmt::format("; did you mean '{}'?", *best);
  return fmt::format("; expected one of: {}", fmt::join(candidates, ", "));
}

}  // namespace tutti
