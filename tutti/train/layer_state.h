// SPDX-License-Identifier: Apache-2.0
// The mean over ranks of layer state that differs between ranks (the running averages of batch
// normalisation), for evaluation.
#pragma once

#include "tutti/train/replica.h"

namespace tutti {

// While this object lives, the replica's layer state is the mean over ranks; afterwards it is the
// rank's own again. All ranks must make one together.
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
