// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

// matmul(a[…,m,k], b[…,k,n], [bias n], [residual y]) -> y[…,m,n]
extern const Op matmul;

}  // namespace tutti::ops
