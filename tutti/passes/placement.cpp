// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/placement.h"

#include "tutti/passes/gaps.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

using Order = std::vector<std::size_t>;

// The pieces by a key, the largest first; pieces with equal keys keep their order.
Order sorted_by(const std::vector<Piece>& pieces, const std::function<double(const Piece&)>& key) {
  std::vector<double> keys;
  for (const Piece& piece : pieces) keys.push_back(key(piece));
  Order order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
  return order;
}

double begin_of(const Piece& piece) { return -static_cast<double>(piece.first); }
double end_of(const Piece& piece) { return static_cast<double>(piece.last); }

std::int64_t most_in_use(const std::vector<Piece>& pieces) {
  int end = 0;
  for (const Piece& piece : pieces) end = std::max(end, piece.last + 1);
  std::vector<std::int64_t> change(static_cast<std::size_t>(end) + 1, 0);
  for (const Piece& piece : pieces) {
    change[static_cast<std::size_t>(piece.first)] += piece.bytes;
    change[static_cast<std::size_t>(piece.last) + 1] -= piece.bytes;
  }
  std::int64_t now = 0, most = 0;
  for (const std::int64_t one : change) most = std::max(most, now += one);
  return most;
}

class Placing {
 public:
  Placing(const std::vector<Piece>& pieces, std::int64_t most_steps)
      : pieces_(pieces), most_steps_(most_steps), offsets_(pieces.size(), 0) {
    best_.live_bytes = most_in_use(pieces);
    best_.bytes = std::numeric_limits<std::int64_t>::max();
  }

  Placement best() {
    if (pieces_.empty()) return {};
    walk(sorted_by(pieces_, begin_of),
         sorted_by(pieces_, [](const Piece& p) { return -end_of(p); }),
         [](const Piece& old, const Piece& now) { return old.last < now.first; });
    walk(sorted_by(pieces_, end_of),
         sorted_by(pieces_, [](const Piece& p) { return -begin_of(p); }),
         [](const Piece& old, const Piece& now) { return old.first > now.last; });
    search();
    return best_;
  }

 private:
  // Places pieces in `order`, that of the begins of their use, each in the lowest gap where it
  // fits. `ending` is the order of the ends of their use. Backward in time, begins and ends change
  // roles.
  template <class IsOver>
  void walk(const Order& order, const Order& ending, const IsOver& is_over) {
    Gaps gaps;
    auto old = ending.begin();
    for (const std::size_t index : order) {
      for (; is_over(pieces_[*old], pieces_[index]); ++old)
        gaps.give_back(offsets_[*old], pieces_[*old].bytes);
      offsets_[index] = gaps.take(pieces_[index].bytes);
    }
    best_.steps += gaps.steps();
    keep_if_better(gaps.end());
  }

  // Tries several orders of placing. Where more than a thousandth can be gained, each order is
  // improved by moving the piece at the peak to the front.
  void search() {
    constexpr int improvements = 100;
    const std::int64_t enough = best_.live_bytes + best_.live_bytes / 1000;
    const auto bytes = [](const Piece& p) { return static_cast<double>(p.bytes); };
    const auto life = [](const Piece& p) { return static_cast<double>(p.last - p.first + 1); };
    const std::function<double(const Piece&)> keys[] = {
        bytes, life, [&](const Piece& p) { return bytes(p) * life(p); }, begin_of, end_of};
    for (const auto& key : keys) {
      Order order = sorted_by(pieces_, key);
      for (int k = 0; k <= improvements && best_.bytes > (k == 0 ? best_.live_bytes : enough);
           ++k) {
        if (best_.steps + steps_to_place() > most_steps_) return;
        place(order);
        const std::int64_t peak = end_of_all();
        keep_if_better(peak);
        const auto highest = std::find_if(order.begin(), order.end(), [&](std::size_t index) {
          return offsets_[index] + pieces_[index].bytes == peak;
        });
        std::rotate(order.begin(), highest, highest + 1);
      }
    }
  }

  std::int64_t steps_to_place() const {
    const auto count = static_cast<std::int64_t>(pieces_.size());
    return count * (count + 1) / 2;
  }

  // Places pieces in the given order, each at the lowest offset that is free during its life.
  void place(const Order& order) {
    placed_.clear();
    best_.steps += steps_to_place();
    for (const std::size_t index : order) {
      const Piece& piece = pieces_[index];
      std::int64_t offset = 0;
      for (const Placed& other : placed_) {
        if (other.first > piece.last || other.last < piece.first) continue;
        if (other.offset >= offset + piece.bytes) break;
        offset = std::max(offset, other.end);
      }
      offsets_[index] = offset;
      const auto behind =
          std::upper_bound(placed_.begin(), placed_.end(), offset,
                           [](std::int64_t a, const Placed& b) { return a < b.offset; });
      placed_.insert(behind, {offset, offset + piece.bytes, piece.first, piece.last});
    }
  }

  std::int64_t end_of_all() const {
    std::int64_t end = 0;
    for (std::size_t k = 0; k < pieces_.size(); ++k)
      end = std::max(end, offsets_[k] + pieces_[k].bytes);
    return end;
  }

  void keep_if_better(std::int64_t bytes) {
    if (bytes >= best_.bytes) return;
    best_.bytes = bytes;
    best_.offsets = offsets_;
  }

  struct Placed {
    std::int64_t offset = 0, end = 0;
    int first = 0, last = 0;
  };

  const std::vector<Piece>& pieces_;
  const std::int64_t most_steps_;
  std::vector<std::int64_t> offsets_;
  std::vector<Placed> placed_;  // sorted by offset
  Placement best_;
};

}  // namespace

Placement place_pieces(const std::vector<Piece>& pieces, std::int64_t most_steps) {
  return Placing(pieces, most_steps).best();
}

}  // namespace tutti
