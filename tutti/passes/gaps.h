// SPDX-License-Identifier: Apache-2.0
// Free memory below a high-water mark. Memory is taken by first fit, from the lowest gap that is
// large enough. Gaps are kept by offset and in classes by the logarithm of their size, so that a
// call looks at few of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace tutti {

class Gaps {
 public:
  // Takes free memory and returns its offset.
  std::int64_t take(std::int64_t bytes);
  void give_back(std::int64_t offset, std::int64_t bytes);
  // The high-water mark: the end of the highest memory that was ever taken.
  std::int64_t end() const { return end_; }
  // How many gaps were looked at so far, a measure of the work.
  std::int64_t steps() const { return steps_; }

 private:
  void add(std::int64_t begin, std::int64_t end);
  void remove(std::map<std::int64_t, std::int64_t>::iterator gap);

  std::map<std::int64_t, std::int64_t> gaps_;  // end of each gap by its begin; no two gaps touch
  std::array<std::set<std::int64_t>, 64> by_class_ = {};  // begins of the gaps of each class
  std::int64_t end_ = 0, steps_ = 0;
};

}  // namespace tutti
