// SPDX-License-Identifier: Apache-2.0
// Rows of numbers as 8-bit integers with a scale for each row, and back (B03). The mapping is
// symmetric: zero stays zero, and the largest magnitude of a row becomes 127.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op quantise;  // quantise(x[n,k]) -> q[n,k] of i8, scale[n]; x ≈ scale q
// dequantise(sums[m,n] of i32, row_scale[m], column_scale[n], bias[n]?, residual[m,n]?; activation)
// -> y[m,n] = activation(sums row_scale column_scale + bias + residual)
extern const Op dequantise;

}  // namespace tutti::ops
