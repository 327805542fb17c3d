// SPDX-License-Identifier: Apache-2.0
// A batch that was read, as a replica takes it.
#pragma once

#include "tutti/data/prefetch.h"
#include "tutti/train/replica.h"

namespace tutti {

inline BatchPointers pointers_of(const data::Batch& batch) {
  return {.samples = batch.pass_total,
          .local = batch.count(),
          .fields = PerField<const void*>(batch.pointers),
          .accumulation = {.adds = batch.pass > 0, .closes = batch.pass + 1 == batch.passes},
          .bucket = batch.bucket};
}

}  // namespace tutti
