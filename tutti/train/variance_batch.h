// SPDX-License-Identifier: Apache-2.0
// Measures what BatchFromVariance needs: the squared norms of the gradients of single micro-batches
// on each rank, summed over ranks. The last micro-batch closes the step, so it is not measured.
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

  // Called after each micro-batch of a step but the last.
  void after_micro_batch(const data::Batch& batch, double loss_scale);
  // Called by all ranks after a step of `samples` samples. Returns the batch of the next steps
  // where it changes.
  std::optional<std::int64_t> after_step(const StepResult& result, std::int64_t samples);

  // A note for checkpoints, with the changes of the batch so far; and back.
  std::string note(const std::vector<data::BatchChange>& changes) const;
  std::vector<data::BatchChange> restore(const std::string& note);

 private:
  const Replica& replica_;
  Communicator& communicator_;
  BatchFromVariance choice_;
  std::vector<double> so_far_;               // the sum of the gradients of the micro-batches so far
  std::array<double, 3> sums_ = {};          // of squares, of 1/n, of 1 over n-sample micro-batches
  std::unique_ptr<Operation> sum_of_ranks_;  // none with one rank
};

}  // namespace tutti
