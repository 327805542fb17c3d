// SPDX-License-Identifier: Apache-2.0
// The scale of the loss (G01; Micikevicius et al. 2018): the loss is multiplied by a scale, so that
// small gradients do not vanish in 16 bits, and gradients are divided by it before clipping and
// update. A step whose gradient is not finite changes no weights. A dynamic scale is then halved,
// and doubled again after loss_scale_steps good steps. Every rank sees the same norm, so all ranks
// decide alike.
#pragma once

#include "tutti/core/settings.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

class LossScale {
 public:
  // From the table [train] and kernels.precision. Throws Error unless loss_scale is auto, none,
  // dynamic or a number above 0.
  LossScale(const Settings& train, const std::string& precision);

  bool active() const { return mode_ != Mode::none; }
  double scale() const { return scale_; }
  std::int64_t skipped() const { return skipped_; }  // steps so far that changed no weights

  // Takes note of a step. False: give up, since gradients were not finite in too many steps in a
  // row, or at a dynamic scale that is 1 already.
  bool after_step(bool finite);

  // For checkpoints: scale, good steps since the scale changed, skipped steps in a row and in all.
  std::string note() const;
  void restore(const std::string& note);

 private:
  enum class Mode { none, constant, dynamic } mode_ = Mode::none;
  double scale_ = 1;
  std::int64_t growth_steps_ = 0, good_ = 0, in_a_row_ = 0, skipped_ = 0;
};

}  // namespace tutti
