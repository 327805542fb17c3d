// SPDX-License-Identifier: Apache-2.0
// Turns a batch that was read into the pointers that a replica takes.
#pragma once

#include "tutti/data/prefetch.h"
#include "tutti/train/replica.h"

namespace tutti {

inline BatchPointers pointers_of(const data::Batch& batch) {
  return {.samples = batch.micro_batch_total,
          .local = batch.count(),
          .fields = PerField<const void*>(batch.pointers),
          .accumulation = {.adds = batch.micro_batch > 0,
                           .closes = batch.micro_batch + 1 == batch.micro_batches},
          .bucket = batch.bucket};
}

}  // namespace tutti
