// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/graph/op.h"

namespace tutti::ops {

extern const Op local_response;        // local_response(x[n,c,…]) -> y
extern const Op local_response_grad;   // local_response_grad(dy, x) -> dx
extern const Op local_response_grad2;  // local_response_grad2(v, dy, x) -> in_dy, in_x

}  // namespace tutti::ops
