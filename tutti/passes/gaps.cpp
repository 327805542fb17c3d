// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/gaps.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace tutti {
namespace {

// The class of a gap: class k has the gaps of 2^k to 2^(k+1) - 1 bytes.
std::size_t class_of(std::int64_t bytes) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1;
}

}  // namespace

std::int64_t Gaps::take(std::int64_t bytes) {
  if (bytes == 0) return 0;
  // The class of `bytes` also has gaps that are too small; at most this many of them are looked at.
  constexpr int most_looked_at = 64;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  int looked_at = 0;
  for (const std::int64_t begin : by_class_[class_of(bytes)]) {
    ++steps_;
    if (gaps_.at(begin) - begin >= bytes) lowest = begin;
    if (lowest == begin || ++looked_at == most_looked_at) break;
  }
  for (std::size_t k = class_of(bytes) + 1; k < by_class_.size(); ++k)
    if (!by_class_[k].empty()) lowest = std::min(lowest, *by_class_[k].begin());
  ++steps_;
  if (const auto found = gaps_.find(lowest); found != gaps_.end()) {
    const std::int64_t end = found->second;
    remove(found);
    add(lowest + bytes, end);
    return lowest;
  }
  // No gap fits, so memory is taken at the end, beginning with a gap that reaches up to it, if any.
  std::int64_t begin = end_;
  if (!gaps_.empty() && std::prev(gaps_.end())->second == end_) {
    begin = std::prev(gaps_.end())->first;
    remove(std::prev(gaps_.end()));
  }
  end_ = begin + bytes;
  return begin;
}

void Gaps::give_back(std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return;
  ++steps_;
  std::int64_t begin = offset, end = offset + bytes;
  auto behind = gaps_.lower_bound(begin);
  if (behind != gaps_.end() && behind->first == end) {
    end = behind->second;
    const auto merged = behind++;
    remove(merged);
  }
  if (behind != gaps_.begin() && std::prev(behind)->second == begin) {
    begin = std::prev(behind)->first;
    remove(std::prev(behind));
  }
  add(begin, end);
}

void Gaps::add(std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  gaps_.emplace(begin, end);
  by_class_[class_of(end - begin)].insert(begin);
}

void Gaps::remove(std::map<std::int64_t, std::int64_t>::iterator gap) {
  by_class_[class_of(gap->second - gap->first)].erase(gap->first);
  gaps_.erase(gap);
}

}  // namespace tutti
