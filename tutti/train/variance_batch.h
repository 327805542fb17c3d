// SPDX-License-Identifier: Apache-2.0
// Measures what BatchFromVariance needs: the squares of the gradients that the micro-batches of a
// step leave behind on each rank before the last of them closes the step, summed over ranks.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/data/prefetch.h"
#include "tutti/optim/batch_from_variance.h"
#include "tutti/train/replica.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

class VarianceBatch {
 public:
  // Made by all ranks; the replica and the communicator must outlive it.
  VarianceBatch(const Settings& optimizer, std::int64_t batch, const Replica& replica,
                Communicator& communicator);

  // After each micro-batch of a step but the last.
  void after_micro_batch(const data::Batch& batch, double loss_scale);
  // By all ranks after the step, which had so many samples: the batch of the next steps, where it
  // becomes another.
  std::optional<std::int64_t> after_step(const StepResult& result, std::int64_t samples);

  // For checkpoints, with the changes of the batch so far.
  std::string note(const std::vector<data::BatchChange>& changes) const;
  std::vector<data::BatchChange> restore(const std::string& note);

 private:
  const Replica& replica_;
  Communicator& communicator_;
  BatchFromVariance choice_;
  std::vector<double> so_far_;               // the sum of the gradients of the micro-batches so far
  std::array<double, 3> sums_ = {};          // of squares, of 1/n, of parts
  std::unique_ptr<Operation> sum_of_ranks_;  // none with one rank
};

}  // namespace tutti
