// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/recompute_plan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

namespace tutti {
namespace {

// Bytes kept and seconds of neighbouring cells.
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

// Least time when a run holds at most `run_bytes` and everything else fits into `rest` bytes.
// best[i][m]: cells before i within m units of memory.
class Search {
 public:
  Search(const std::vector<Cell>& cells, std::int64_t run_bytes, std::int64_t rest)
      : cells_(cells),
        sums_(cells),
        run_bytes_(run_bytes),
        // A power of two, which divides most sizes: little is lost by rounding up.
        unit_(static_cast<std::int64_t>(
            std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, rest / 256))))),
        units_(rest / unit_) {
    const std::size_t n = cells.size();
    best_.assign(n + 1, std::vector<Choice>(static_cast<std::size_t>(units_) + 1));
    for (Choice& choice : best_[0]) choice.seconds = 0;
    for (std::size_t i = 1; i <= n; ++i)
      for (std::int64_t m = 0; m <= units_; ++m) choose(static_cast<int>(i), m);
  }

  double seconds() const { return best_.back().back().seconds; }

  RecomputePlan plan() const {
    RecomputePlan plan{.runs = {}, .seconds = seconds()};
    std::int64_t m = units_;
    for (int i = static_cast<int>(cells_.size()); i > 0;) {
      const Choice& choice = best_[static_cast<std::size_t>(i)][static_cast<std::size_t>(m)];
      if (choice.recomputed) plan.runs.insert(plan.runs.begin(), {choice.from, i});
      m -= choice.taken;
      i = choice.from;
    }
    return plan;
  }

 private:
  struct Choice {
    double seconds = std::numeric_limits<double>::infinity();
    int from = 0;
    std::int64_t taken = 0;  // units
    bool recomputed = false;
  };

  std::int64_t units_of(std::int64_t bytes) const { return (bytes + unit_ - 1) / unit_; }

  void consider(int i, std::int64_t m, int from, std::int64_t taken, double seconds, bool again) {
    if (taken > m) return;
    const double total =
        best_[static_cast<std::size_t>(from)][static_cast<std::size_t>(m - taken)].seconds +
        seconds;
    Choice& own = best_[static_cast<std::size_t>(i)][static_cast<std::size_t>(m)];
    if (total < own.seconds) own = {total, from, taken, again};
  }

  void choose(int i, std::int64_t m) {
    const auto& last = cells_[static_cast<std::size_t>(i - 1)];
    consider(i, m, i - 1, units_of(last.kept_bytes), 0, false);
    for (int from = i - 1; from >= 0 && sums_.bytes(from, i) <= run_bytes_; --from)
      consider(i, m, from, units_of(cells_[static_cast<std::size_t>(from)].input_bytes),
               sums_.time(from, i), true);
  }

  const std::vector<Cell>& cells_;
  Sums sums_;
  std::int64_t run_bytes_, unit_, units_;
  std::vector<std::vector<Choice>> best_;
};

// What runs may hold: every sum of neighbouring cells, or as many of them as can be tried.
std::vector<std::int64_t> run_sizes(const std::vector<Cell>& cells) {
  constexpr std::size_t most = 64;
  const Sums sums(cells);
  const int n = static_cast<int>(cells.size());
  std::set<std::int64_t> all;
  for (int first = 0; first < n; ++first)
    for (int last = first + 1; last <= n; ++last) all.insert(sums.bytes(first, last));
  const std::vector<std::int64_t> sizes(all.begin(), all.end());
  if (sizes.size() <= most) return sizes;
  std::vector<std::int64_t> tried;
  for (std::size_t k = 0; k < most; ++k)
    tried.push_back(sizes[k * (sizes.size() - 1) / (most - 1)]);
  return tried;
}

// The recursion of B26, bottom up: steps[k][t] for t cells and k slots that are free. The state
// before the t cells stands, and y of them are computed. When y = t the last is at work and no slot
// is taken; otherwise the y-th takes one until all behind it are done.
class Slots {
 public:
  Slots(int cells, int free, Slot slot) {
    const auto n = static_cast<std::size_t>(cells);
    // Of the y-th cell itself nothing is to be computed again when it was kept whole.
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

  // Slot::cell: what is computed again of the cells [first, last) with k slots free.
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

// Activations of the cells [first, last) at the worst moment of a computation that drops `runs`,
// and of their being computed again.
std::int64_t worst_bytes(const std::vector<Cell>& cells, const Sums& sums, int first, int last,
                         const std::vector<Recomputed>& runs) {
  std::int64_t kept = sums.bytes(first, last), largest = 0;
  for (const Recomputed& run : runs) {
    kept +=
        cells[static_cast<std::size_t>(run.first)].input_bytes - sums.bytes(run.first, run.last);
    largest = std::max(largest, worst_bytes(cells, sums, run.first, run.last, run.inner));
  }
  return kept + largest;
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

// A cell that is in no run keeps all that its backward pass reads: Slot::cell is what the engine
// does. Borders alone would do for cells that keep much more inside than behind them.
RecomputePlan recompute_slots(const std::vector<Cell>& cells, int slots) {
  const int n = static_cast<int>(cells.size());
  const int free = std::min(slots, n);
  RecomputePlan plan;
  plan.runs = Slots(n, free, Slot::cell).runs(0, n, static_cast<std::size_t>(free));
  plan.seconds = Sums(cells).time(plan.runs);
  return plan;
}

std::int64_t forward_steps(int cells, int slots, Slot slot) {
  return Slots(cells, slot == Slot::cell ? slots : slots - 1, slot).steps();
}

std::int64_t estimated_bytes(const std::vector<Cell>& cells, const RecomputePlan& plan) {
  return worst_bytes(cells, Sums(cells), 0, static_cast<int>(cells.size()), plan.runs);
}

RecomputePlan recompute_within(const std::vector<Cell>& cells, std::int64_t bytes) {
  if (estimated_bytes(cells, {}) <= bytes) return {};
  RecomputePlan best = recompute_root(cells);
  double least = std::numeric_limits<double>::infinity();
  for (const std::int64_t run_bytes : run_sizes(cells)) {
    if (run_bytes >= bytes) break;
    const Search search(cells, run_bytes, bytes - run_bytes);
    if (search.seconds() >= least) continue;
    least = search.seconds();
    best = search.plan();
  }
  return best;
}

}  // namespace tutti
