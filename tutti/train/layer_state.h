// SPDX-License-Identifier: Apache-2.0
// Layer state that every rank has for itself (the running averages of batch normalisation), as
// evaluation wants it.
#pragma once

#include "tutti/train/replica.h"

namespace tutti {

// While one lives, a replica's layer state is the mean over ranks; then its own again. Made by all
// ranks.
class MeanLayerState {
 public:
  explicit MeanLayerState(Replica& replica);
  MeanLayerState(const MeanLayerState&) = delete;
  MeanLayerState& operator=(const MeanLayerState&) = delete;
  ~MeanLayerState();

 private:
  Replica& replica_;
  Buffer own_;  // empty: all ranks have the same
};

}  // namespace tutti
