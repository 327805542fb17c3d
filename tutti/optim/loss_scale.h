// SPDX-License-Identifier: Apache-2.0
// The scale of the loss (G01; Micikevicius et al. 2018): gradients that would vanish in 16 bits are
// multiplied before the backward pass and divided again before clipping and update. A step whose
// gradient is not finite is left out. A dynamic scale is then halved, and doubled again after so
// many good steps. Every rank sees the same norm, so all decide alike.
#pragma once

#include "tutti/core/settings.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

class LossScale {
 public:
  // From [train] and kernels.precision. Throws Error unless loss_scale is one of its words or a
  // number above 0.
  LossScale(const Settings& train, const std::string& precision);

  bool active() const { return mode_ != Mode::none; }
  double scale() const { return scale_; }
  std::int64_t skipped() const { return skipped_; }  // steps left out since the beginning

  // Takes note of a step. False: it was not finite, and another scale would not help either.
  bool after_step(bool finite);

  // For checkpoints: scale, good steps since it changed, steps left out in a row and in all.
  std::string note() const;
  void restore(const std::string& note);

 private:
  enum class Mode { none, constant, dynamic } mode_ = Mode::none;
  double scale_ = 1;
  std::int64_t growth_steps_ = 0, good_ = 0, in_a_row_ = 0, skipped_ = 0;
};

}  // namespace tutti
