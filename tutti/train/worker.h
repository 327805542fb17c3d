// SPDX-License-Identifier: Apache-2.0
// One rank's training: the worker loop.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/train/train.h"

namespace tutti {

// What the ranks of a run share and only read.
struct TrainingRun {
  const Job& job;
  const TrainOptions& options;
  const data::Dataset& training;
  const data::Dataset* test = nullptr;  // nullptr: no evaluation
  bool resume = false;
  int threads = 1;                   // of each rank
  std::int64_t resident_before = 0;  // bytes of this process before there were ranks
  int ranks_here() const { return options.communicator == nullptr ? job.ranks() : 1; }
};

// Every rank of the communicator calls this; rank 0's summary is whole.
TrainSummary work(const TrainingRun& run, Communicator& communicator);

}  // namespace tutti
