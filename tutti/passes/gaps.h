// SPDX-License-Identifier: Apache-2.0
// Free memory below a high-water mark, by first fit: the lowest gap that is large enough. Gaps are
// kept by offset and, by the logarithm of their size, in classes: a call looks at few of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace tutti {

class Gaps {
 public:
  // Offset of free memory, from then on in use.
  std::int64_t take(std::int64_t bytes);
  void give_back(std::int64_t offset, std::int64_t bytes);
  // Where the highest piece that was ever taken ended.
  std::int64_t end() const { return end_; }
  // How many gaps were looked at.
  std::int64_t steps() const { return steps_; }

 private:
  void add(std::int64_t begin, std::int64_t end);
  void remove(std::map<std::int64_t, std::int64_t>::iterator gap);

  std::map<std::int64_t, std::int64_t> gaps_;             // begin to end, none touches another
  std::array<std::set<std::int64_t>, 64> by_class_ = {};  // their begins
  std::int64_t end_ = 0, steps_ = 0;
};

}  // namespace tutti
