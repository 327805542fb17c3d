// SPDX-License-Identifier: Apache-2.0
// The sizes and tensors of a 2-D convolution, as our own variants see them.
#pragma once

#include "tutti/graph/op.h"

namespace tutti::cpu {

// Which tensor is computed: y, the gradient of x, or the gradient of w.
enum class Direction { forward, input, weight };

// n images of c channels h×w, o output channels of oh×ow pixels, kernels kh×kw.
struct Sizes {
  std::int64_t n = 0, c = 0, o = 0, groups = 1;
  std::int64_t h = 0, w = 0, oh = 0, ow = 0, kh = 0, kw = 0;
  std::int64_t stride_h = 1, stride_w = 1, padding_h = 0, padding_w = 0;
  std::int64_t dilation_h = 1, dilation_w = 1;

  std::int64_t group_c() const { return c / groups; }
  std::int64_t group_o() const { return o / groups; }
  std::int64_t image() const { return h * w; }
  std::int64_t pixels() const { return oh * ow; }
  std::int64_t kernel() const { return kh * kw; }
  // Products that are summed for one output.
  std::int64_t patch() const { return group_c() * kernel(); }
  // Whether windows have stride 1 and no holes, and all channels are in one group.
  bool dense() const {
    return stride_h == 1 && stride_w == 1 && dilation_h == 1 && dilation_w == 1 && groups == 1;
  }
};

// The tensors of a convolution, of which the one that is computed is written. Bias and ReLU are for
// methods that apply them themselves (OwnMethod::finishes).
struct Operands {
  float *x = nullptr, *w = nullptr, *y = nullptr;
  const float* bias = nullptr;
  bool relu = false;
};

// Whether the convolution is in f32, has two spatial dimensions and is not empty.
bool is_plane(const Graph& graph, const Node& node);
Sizes sizes_of(const Graph& graph, const Node& node);

// The output positions [begin, end) that read inside the image, and not its padding, at position k
// of the window; `offset` = k·dilation − padding.
struct Reach {
  std::int64_t begin, end;
};
inline Reach reach(std::int64_t offset, std::int64_t stride, std::int64_t extent,
                   std::int64_t outputs) {
  const std::int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const std::int64_t end = offset >= extent ? 0 : (extent - 1 - offset) / stride + 1;
  return {begin < outputs ? begin : outputs, end < outputs ? end : outputs};
}

}  // namespace tutti::cpu
