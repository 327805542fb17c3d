// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/loss_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace tutti {
namespace {

constexpr double first_scale = 65536, largest_scale = 16777216;  // 2¹⁶, 2²⁴
constexpr std::int64_t most_in_a_row = 50;  // steps with a gradient that is not finite

double number_in(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool whole = end == text.c_str() + text.size() && !text.empty();
  if (!whole || !std::isfinite(number) || number <= 0)
    throw Error("'loss_scale' is \"{}\", expected auto, none, dynamic or a number above 0", text);
  return number;
}

}  // namespace

LossScale::LossScale(const Settings& train, const std::string& precision)
    : growth_steps_(train.integer("loss_scale_steps")) {
  const std::string& given = train.text("loss_scale");
  if (given == "none" || (given == "auto" && precision != "fp16")) return;
  const bool dynamic = given == "dynamic" || given == "auto";
  mode_ = dynamic ? Mode::dynamic : Mode::constant;
  scale_ = dynamic ? first_scale : number_in(given);
}

bool LossScale::after_step(bool finite) {
  if (finite) {
    in_a_row_ = 0;
    if (++good_ < growth_steps_ || mode_ != Mode::dynamic) return true;
    good_ = 0;
    scale_ = std::min(2 * scale_, largest_scale);
    return true;
  }
  good_ = 0;
  ++skipped_;
  if (++in_a_row_ == most_in_a_row) return false;
  if (mode_ != Mode::dynamic) return true;
  if (scale_ <= 1) return false;
  scale_ /= 2;
  return true;
}

std::string LossScale::note() const {
  return fmt::format("{} {} {} {}", scale_, good_, in_a_row_, skipped_);
}

void LossScale::restore(const std::string& note) {
  std::istringstream words(note);
  double scale = 1;
  words >> scale >> good_ >> in_a_row_ >> skipped_;
  if (mode_ == Mode::dynamic) scale_ = scale;
}

}  // namespace tutti
