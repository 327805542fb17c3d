// SPDX-License-Identifier: Apache-2.0
// "did you mean": the candidate with the smallest edit distance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// The least number of letters to insert, leave out, replace or swap with a neighbour that turns `a`
// into `b`.
int edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'rate'?" when a candidate is close, else "; expected one of: a, b, c".
std::string suggestion(std::string_view wrong, const std::vector<std::string>& candidates);

}  // namespace tutti
