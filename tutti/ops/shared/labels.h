// SPDX-License-Identifier: Apache-2.0
// What operators on (logits[n, c], labels[n], weights[n]) share.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// Throws Error("[name] …") unless the first three types are float [n, c], i32 [n], float [n].
void check_labelled(const char* name, const std::vector<Type>& in);

// labels[n]; throws Error naming sample and label when it is not in [0, classes).
std::int64_t label_at(const char* name, const Tensor& labels, std::int64_t n, std::int64_t classes);

}  // namespace tutti::ops
