// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/watch.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace tutti {
namespace {

// A loss that fluctuates stays below this many times its mean over the first steps; one that runs
// away soon leaves it behind by orders of magnitude.
constexpr double much = 10;
constexpr std::int64_t first_steps = 10;
constexpr double as_good_as_zero = 1e-3;  // a loss that grows to less has not run away
// The recent loss is a mean in which each step counts for this part.
constexpr double weight_of_a_step = 0.1;

}  // namespace

Watch::Watch(const std::string& metric, std::int64_t patience, bool classes)
    : metric_(metric == "none"                                     ? Metric::none
              : metric == "loss" || (metric == "auto" && !classes) ? Metric::loss
              : metric == "absolute_error"                         ? Metric::absolute_error
                                                                   : Metric::accuracy),
      patience_(patience) {
  if (metric == (classes ? "absolute_error" : "accuracy"))
    throw Error("train.watch is \"{}\", but the data {}; expected auto or loss", metric,
                classes ? "has classes" : "has no classes");
}

bool Watch::improves(const Evaluation& evaluation) {
  if (!active()) return false;
  const bool larger = metric_ == Metric::accuracy;
  const double value = larger                    ? evaluation.accuracy
                       : metric_ == Metric::loss ? evaluation.loss
                                                 : evaluation.absolute_error;
  const bool better = std::isfinite(value) && (!any_ || (larger ? value > best_ : value < best_));
  since_best_ = better ? 0 : since_best_ + 1;
  if (better) best_ = value;
  any_ = any_ || better;
  return better;
}

void Watch::see(double loss) {
  if (losses_++ == 0) recent_loss_ = loss;
  if (losses_ <= first_steps) first_loss_ += (loss - first_loss_) / static_cast<double>(losses_);
  recent_loss_ += weight_of_a_step * (loss - recent_loss_);
}

bool Watch::diverged() const {
  return losses_ > 0 && !(recent_loss_ <= std::max(much * first_loss_, as_good_as_zero));
}

// With as many digits as it takes to lose no bit.
std::string Watch::note() const {
  return fmt::format("{} {} {} {} {} {} {}", static_cast<int>(metric_), any_ ? 1 : 0, best_,
                     since_best_, losses_, first_loss_, recent_loss_);
}

void Watch::restore(const std::string& note) {
  std::istringstream words(note);
  int metric = 0;
  bool any = false;
  double best = 0;
  std::int64_t since_best = 0;
  words >> metric >> any >> best >> since_best >> losses_ >> first_loss_ >> recent_loss_;
  if (metric == static_cast<int>(metric_)) any_ = any, best_ = best, since_best_ = since_best;
  if (!words) throw Error("the checkpoint's note on what was watched is damaged: \"{}\"", note);
}

}  // namespace tutti
