// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/watch.h"

#include "tutti/core/error.h"

#include <sstream>

namespace tutti {
namespace {

// A loss that fluctuates stays below this many times its first value; one that runs away soon
// leaves it behind by orders of magnitude.
constexpr double much = 10;
// The recent loss is a mean in which each step counts for this part.
constexpr double weight_of_a_step = 0.1;

}  // namespace

Watch::Watch(const std::string& metric, std::int64_t patience, bool classes)
    : metric_(metric == "none"                                     ? Metric::none
              : metric == "loss" || (metric == "auto" && !classes) ? Metric::loss
              : metric == "absolute_error"                         ? Metric::absolute_error
                                                                   : Metric::accuracy),
      patience_(patience) {}

bool Watch::improves(const Evaluation& evaluation) {
  if (!active()) return false;
  const bool larger = metric_ == Metric::accuracy;
  const double value = larger                    ? evaluation.accuracy
                       : metric_ == Metric::loss ? evaluation.loss
                                                 : evaluation.absolute_error;
  const bool better = !any_ || (larger ? value > best_ : value < best_);
  since_best_ = better ? 0 : since_best_ + 1;
  if (better) best_ = value;
  any_ = true;
  return better;
}

void Watch::see(double loss) {
  if (losses_++ == 0) first_loss_ = recent_loss_ = loss;
  recent_loss_ += weight_of_a_step * (loss - recent_loss_);
}

bool Watch::diverged() const { return losses_ > 0 && !(recent_loss_ <= much * first_loss_); }

// With as many digits as it takes to lose no bit.
std::string Watch::note() const {
  return fmt::format("{} {} {} {} {} {}", any_ ? 1 : 0, best_, since_best_, losses_, first_loss_,
                     recent_loss_);
}

void Watch::restore(const std::string& note) {
  std::istringstream words(note);
  words >> any_ >> best_ >> since_best_ >> losses_ >> first_loss_ >> recent_loss_;
  if (!words) throw Error("the checkpoint's note on what was watched is damaged: \"{}\"", note);
}

}  // namespace tutti
