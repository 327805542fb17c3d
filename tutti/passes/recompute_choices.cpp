// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/recompute_choices.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Bounds the table of Frontier to 40 MB and a fraction of a second.
constexpr std::size_t most_cells = 96;

// Neighbouring cells joined into groups, so that there are at most `most_cells` of them.
struct Groups {
  std::vector<Cell> cells;
  std::vector<int> begins;  // the first cell of each group, and the end

  explicit Groups(const std::vector<Cell>& all) {
    const std::size_t each = std::max<std::size_t>(1, (all.size() + most_cells - 1) / most_cells);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i % each == 0) {
        cells.push_back(all[i]);
        begins.push_back(static_cast<int>(i));
        continue;
      }
      cells.back().end = all[i].end;
      cells.back().kept_bytes += all[i].kept_bytes;
      cells.back().seconds += all[i].seconds;
    }
    begins.push_back(static_cast<int>(all.size()));
  }

  void to_cells(std::vector<Recomputed>& runs) const {
    for (Recomputed& run : runs) {
      run.first = begins[static_cast<std::size_t>(run.first)];
      run.last = begins[static_cast<std::size_t>(run.last)];
      to_cells(run.inner);
    }
  }
};

// row(i, j, stands)[m] is the least time, in seconds, that is spent computing cells [i, j) again
// within m units of memory. With `stands`, the input of cell i is in memory anyway; else it must be
// held where a sequence of recomputed cells begins with i. Either cell i is kept, or a sequence [i,
// k) is dropped: then the backward of [k, j) comes first, and [i, k) is computed again when that is
// done.
class Frontier {
 public:
  explicit Frontier(const std::vector<Cell>& cells)
      : cells_(cells), n_(cells.size()), seconds_(n_ + 1), kept_(n_ + 1) {
    std::int64_t bytes = 0;
    for (const Cell& cell : cells) bytes += cell.kept_bytes;
    // The unit is a power of two, which divides most sizes, so little is lost by rounding up.
    constexpr std::uint64_t units = 256;
    unit_ = static_cast<std::int64_t>(
        std::bit_floor(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes) / units)));
    bytes = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      bytes += cells[i].kept_bytes;
      // The sum is rounded, not each cell, so that many small cells stay small.
      kept_[i + 1] = units_of(bytes);
      seconds_[i + 1] = seconds_[i] + cells[i].seconds;
    }
    width_ = kept_[n_] + 1;
    rows_.assign((n_ + 1) * (n_ + 1) * 2, {});
    for (std::size_t i = 0; i <= n_; ++i)
      for (const bool stands : {false, true}) row(i, i, stands).assign(width_, 0);
    for (std::size_t count = 1; count <= n_; ++count)
      for (std::size_t i = 0; i + count <= n_; ++i) fill(i, i + count);
  }

  std::vector<RecomputePlan> plans() const {
    constexpr double noticeable = 1e-9;  // smaller differences are rounding errors of the sums
    std::vector<RecomputePlan> found;
    double least = infinite;
    for (std::size_t m = 0; m < width_; ++m) {
      const double seconds = row(0, n_, true)[m];
      if (seconds >= least * (1 - noticeable)) continue;
      least = seconds;
      found.push_back({runs(0, n_, m), seconds});
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  using Row = std::vector<double>;
  Row& row(std::size_t i, std::size_t j, bool stands) {
    return rows_[(i * (n_ + 1) + j) * 2 + (stands ? 1 : 0)];
  }
  const Row& row(std::size_t i, std::size_t j, bool stands) const {
    return rows_[(i * (n_ + 1) + j) * 2 + (stands ? 1 : 0)];
  }
  std::size_t units_of(std::int64_t bytes) const {
    return static_cast<std::size_t>((bytes + unit_ - 1) / unit_);
  }
  std::size_t kept(std::size_t i) const { return kept_[i + 1] - kept_[i]; }
  // The units of memory that must be held as input of a recomputed sequence that begins with cell
  // i.
  std::size_t held(std::size_t i, bool stands) const {
    return stands ? 0 : units_of(cells_[i].input_bytes);
  }
  // The row of cells [i + 1, j) when cell i is kept.
  const Row& behind_kept(std::size_t i, std::size_t j) const {
    return row(i + 1, j, i + 1 < n_ && cells_[i + 1].input_kept);
  }

  void fill(std::size_t i, std::size_t j) {
    // Least seconds when cell i begins a recomputed sequence whose input stands.
    Row dropped(width_, infinite);
    for (std::size_t k = i + 1; k < j; ++k) {
      const double time = seconds_[k] - seconds_[i];
      const double *behind = row(k, j, false).data(), *again = row(i, k, true).data();
      for (std::size_t m = 0; m < width_; ++m)
        dropped[m] = std::min(dropped[m], time + (behind[m] + again[m]));
    }
    const Row& behind = behind_kept(i, j);
    for (const bool stands : {false, true}) {
      Row& best = row(i, j, stands);
      best.assign(width_, infinite);
      for (std::size_t m = kept(i); m < width_; ++m) best[m] = behind[m - kept(i)];
      for (std::size_t m = held(i, stands); m < width_; ++m)
        best[m] = std::min(best[m], dropped[m - held(i, stands)]);
    }
  }

  // The recomputed sequences that take the least time for cells [i, j), whose input stands, within
  // m units.
  std::vector<Recomputed> runs(std::size_t i, std::size_t j, std::size_t m) const {
    std::vector<Recomputed> found;
    bool stands = true;
    while (i < j) {
      double best = m >= kept(i) ? behind_kept(i, j)[m - kept(i)] : infinite;
      std::size_t end = i;  // end of the sequence that begins with cell i; i: the cell is kept
      const std::size_t held = this->held(i, stands);
      for (std::size_t k = i + 1; k < j && held <= m; ++k) {
        const double seconds =
            seconds_[k] - seconds_[i] + (row(k, j, false)[m - held] + row(i, k, true)[m - held]);
        if (seconds < best) best = seconds, end = k;
      }
      if (end == i) {
        m -= kept(i);
        ++i;
        stands = i < j && cells_[i].input_kept;
        continue;
      }
      m -= held;
      found.push_back({static_cast<int>(i), static_cast<int>(end), runs(i, end, m)});
      i = end;
      stands = false;
    }
    return found;
  }

  const std::vector<Cell>& cells_;
  std::size_t n_;
  std::vector<double> seconds_;    // seconds of all cells before
  std::vector<std::size_t> kept_;  // units that all cells before keep
  std::int64_t unit_ = 1;          // bytes of a unit
  std::size_t width_ = 0;
  std::vector<Row> rows_;
};

std::vector<RecomputePlan> on_cells(const Groups& groups, std::vector<RecomputePlan> plans) {
  for (RecomputePlan& plan : plans) groups.to_cells(plan.runs);
  return plans;
}

}  // namespace

std::vector<RecomputePlan> recompute_frontier(const std::vector<Cell>& cells) {
  const Groups groups(cells);
  return on_cells(groups, Frontier(groups.cells).plans());
}

std::vector<RecomputePlan> recompute_choices(const std::vector<Cell>& cells) {
  std::vector<RecomputePlan> plans = recompute_frontier(cells);
  const Groups groups(cells);
  for (RecomputePlan& plan : on_cells(groups, recompute_any_slots(groups.cells)))
    plans.push_back(std::move(plan));
  for (int k = 1; k < static_cast<int>(groups.cells.size()); ++k)
    plans.push_back(on_cells(groups, {recompute_every(groups.cells, k)})[0]);
  std::stable_sort(plans.begin(), plans.end(), [](const RecomputePlan& a, const RecomputePlan& b) {
    return a.seconds < b.seconds;
  });
  const auto same = [](const RecomputePlan& a, const RecomputePlan& b) { return a.runs == b.runs; };
  plans.erase(std::unique(plans.begin(), plans.end(), same), plans.end());
  return plans;
}

std::optional<std::size_t> cheapest_that_fits(
    const std::vector<Cell>& cells, const std::vector<RecomputePlan>& plans,
    std::int64_t limit_bytes, const std::function<std::int64_t(std::size_t)>& step_bytes) {
  // How many plans are tried that don't seem to fit: plans cheaper than the best one so far or,
  // where no plan fits, in turn the plan of the smallest estimate and the plan of the most time,
  // which nests deepest.
  constexpr int last_tries = 4;
  const std::int64_t slack_bytes = limit_bytes / 32;
  std::vector<std::int64_t> estimates;
  for (const RecomputePlan& plan : plans) estimates.push_back(estimated_bytes(cells, plan));
  std::vector<std::size_t> untried(plans.size());
  std::iota(untried.begin(), untried.end(), 0);
  std::optional<std::int64_t> least_besides;
  std::optional<std::size_t> best;
  const auto seems_to_fit = [&](std::size_t k) {
    return !least_besides || estimates[k] + *least_besides - slack_bytes <= limit_bytes;
  };
  const auto smaller = [&](std::size_t a, std::size_t b) { return estimates[a] < estimates[b]; };
  for (int tries = 0; !untried.empty();) {
    auto next = std::find_if(untried.begin(), untried.end(), seems_to_fit);
    if (next == untried.end()) {
      if (tries == last_tries) break;
      const bool by_estimate = tries++ % 2 == 0 && !best;
      next = by_estimate ? std::min_element(untried.begin(), untried.end(), smaller)
                         : std::prev(untried.end());
    }
    const std::size_t k = *next;
    untried.erase(next);
    const std::int64_t bytes = step_bytes(k), besides = bytes - estimates[k];
    least_besides = std::min(least_besides.value_or(besides), besides);
    if (bytes > limit_bytes) continue;
    best = k;
    untried.erase(std::upper_bound(untried.begin(), untried.end(), k), untried.end());
  }
  return best;
}

}  // namespace tutti
