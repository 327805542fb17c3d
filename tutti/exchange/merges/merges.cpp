// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/merges/merge.h"

namespace tutti {

extern const Merge sum_merge, mean_merge;

List<Merge> merges() { return {"merge", {sum_merge, mean_merge}}; }

}  // namespace tutti
