// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace tutti {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
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
