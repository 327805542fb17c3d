// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/recompute_plan.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Sums over neighbouring cells of the bytes that they keep and of their seconds.
struct Sums {
  std::vector<std::int64_t> kept{0};
  std::vector<double> seconds{0};
  explicit Sums(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
      kept.push_back(kept.back() + cell.kept_bytes);
      seconds.push_back(seconds.back() + cell.seconds);
    }
  }
  std::int64_t bytes(int first, int last) const {
    return kept[static_cast<std::size_t>(last)] - kept[static_cast<std::size_t>(first)];
  }
  double time(int first, int last) const {
    return seconds[static_cast<std::size_t>(last)] - seconds[static_cast<std::size_t>(first)];
  }
  double time(const std::vector<Recomputed>& runs) const {
    double total = 0;
    for (const Recomputed& run : runs) total += time(run.first, run.last) + time(run.inner);
    return total;
  }
};

// The recursion of B26, bottom up: choices_[k][t] is the least number of forward steps for t cells
// with k free slots. The activation before the t cells is kept, and the first y cells are computed.
// When y = t, the last cell is at work and takes no slot; otherwise cell y takes a slot until all
// cells behind it are done.
class Slots {
 public:
  Slots(int cells, int free, Slot slot) {
    const auto n = static_cast<std::size_t>(cells);
    // Cell y itself is not computed again when the slot holds the whole cell.
    const std::size_t known = slot == Slot::cell ? 1 : 0;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(free); ++k) {
      std::vector<Choice>& row = choices_.emplace_back(n + 1);
      for (std::size_t t = 1; t <= n; ++t) {
        row[t] = {static_cast<std::int64_t>(t) + row[t - 1].steps, static_cast<int>(t)};
        for (std::size_t y = 1; k > 0 && y < t; ++y) {
          const std::int64_t steps =
              static_cast<std::int64_t>(y) + choices_[k - 1][t - y].steps + row[y - known].steps;
          if (steps < row[t].steps) row[t] = {steps, static_cast<int>(y)};
        }
      }
    }
  }

  std::int64_t steps() const { return choices_.back().back().steps; }

  // With Slot::cell: the sequences of the cells [first, last) that are computed again with k free
  // slots.
  std::vector<Recomputed> runs(int first, int last, std::size_t k) const {
    std::vector<Recomputed> runs;
    for (; first < last; --k) {
      const int kept = first + choices_[k][static_cast<std::size_t>(last - first)].y - 1;
      if (kept > first) runs.push_back({first, kept, this->runs(first, kept, k)});
      first = kept + 1;
    }
    return runs;
  }

 private:
  struct Choice {
    std::int64_t steps = 0;
    int y = 0;
  };
  std::vector<std::vector<Choice>> choices_;
};

// The most bytes of activations of cells [first, last) that are in memory at one time, while the
// cells are computed without keeping `runs`, and while these are computed again. The input of the
// first cell is not counted.
std::int64_t worst_bytes(const std::vector<Cell>& cells, const Sums& sums, int first, int last,
                         const std::vector<Recomputed>& runs) {
  std::int64_t held = 0, worst = 0;
  bool input_stands = true;
  for (const Recomputed& run : runs) {
    const Cell& begin = cells[static_cast<std::size_t>(run.first)];
    if (run.first > first) input_stands = begin.input_kept;
    held += sums.bytes(first, run.first) + (input_stands ? 0 : begin.input_bytes);
    worst = std::max(worst, held + worst_bytes(cells, sums, run.first, run.last, run.inner));
    first = run.last;
    input_stands = false;
  }
  return std::max(worst, held + sums.bytes(first, last));
}

}  // namespace

RecomputePlan recompute_every(const std::vector<Cell>& cells, int k) {
  RecomputePlan plan;
  const int n = static_cast<int>(cells.size());
  for (int first = 0; first + k < n; first += k) plan.runs.push_back({first, first + k});
  plan.seconds = Sums(cells).time(plan.runs);
  return plan;
}

RecomputePlan recompute_root(const std::vector<Cell>& cells) {
  const double n = static_cast<double>(cells.size());
  return recompute_every(cells, std::max(1, static_cast<int>(std::lround(std::sqrt(n)))));
}

// A cell that is not computed again keeps all that its backward reads, which is Slot::cell. For
// cells that keep much more inside than at their end, Slot::border would be enough; recompute()
// can't do that.
RecomputePlan recompute_slots(const std::vector<Cell>& cells, int slots) {
  const int n = static_cast<int>(cells.size());
  const int free = std::min(slots, n);
  RecomputePlan plan;
  plan.runs = Slots(n, free, Slot::cell).runs(0, n, static_cast<std::size_t>(free));
  plan.seconds = Sums(cells).time(plan.runs);
  return plan;
}

std::vector<RecomputePlan> recompute_any_slots(const std::vector<Cell>& cells) {
  const int n = static_cast<int>(cells.size());
  const Slots all(n, n, Slot::cell);
  const Sums sums(cells);
  std::vector<RecomputePlan> plans;
  for (int slots = 1; slots <= n; ++slots) {
    std::vector<Recomputed> runs = all.runs(0, n, static_cast<std::size_t>(slots));
    const double seconds = sums.time(runs);
    plans.push_back({std::move(runs), seconds});
  }
  return plans;
}

std::int64_t forward_steps(int cells, int slots, Slot slot) {
  return Slots(cells, slot == Slot::cell ? slots : slots - 1, slot).steps();
}

std::int64_t estimated_bytes(const std::vector<Cell>& cells, const RecomputePlan& plan) {
  return worst_bytes(cells, Sums(cells), 0, static_cast<int>(cells.size()), plan.runs);
}

}  // namespace tutti
