// SPDX-License-Identifier: Apache-2.0
// The rows of a table that an index tensor names: each row once, with the positions of the index
// that name it, in order. Memory is allocated once, for an index of a fixed number of elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tutti {

class TouchedRows {
 public:
  explicit TouchedRows(std::int64_t indices) : keys_(static_cast<std::size_t>(indices)) {
    firsts_.reserve(keys_.size() + 1);
  }

  // Sorts the index. Row numbers are not negative; they and the number of indices fit into 31 bits.
  void find(const std::int32_t* index) {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      keys_[i] = static_cast<std::uint64_t>(index[i]) << 32 | i;
    std::sort(keys_.begin(), keys_.end());
    firsts_.clear();
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (i == 0 || keys_[i] >> 32 != keys_[i - 1] >> 32) firsts_.push_back(i);
    firsts_.push_back(keys_.size());
  }

  // How many different rows there are.
  std::int64_t count() const { return static_cast<std::int64_t>(firsts_.size()) - 1; }
  // The number of the k-th row.
  std::int64_t row(std::int64_t k) const {
    return static_cast<std::int64_t>(keys_[first(k)] >> 32);
  }
  // Calls visit(i) for each position of the index that names the k-th row.
  template <class Visit>
  void for_positions(std::int64_t k, const Visit& visit) const {
    for (std::size_t at = first(k); at < first(k + 1); ++at)
      visit(static_cast<std::int64_t>(keys_[at] & 0xffffffffu));
  }

 private:
  std::size_t first(std::int64_t k) const { return firsts_[static_cast<std::size_t>(k)]; }

  std::vector<std::uint64_t> keys_;  // row number and position, sorted
  std::vector<std::size_t> firsts_;  // where the keys of each row begin
};

}  // namespace tutti
