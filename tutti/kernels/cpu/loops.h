// SPDX-License-Identifier: Apache-2.0
// Vector loops over contiguous floats, compiled once per instruction set from simd/ and chosen when
// the program starts. A loop works on the range that it is given, on the calling thread; callers
// share work out to threads.
#pragma once

#include "tutti/optim/hyper.h"

#include <cstdint>

namespace tutti::cpu {

struct RowLoops;

// Updates the elements [begin, end) of w and states from the gradient g by one update rule.
using UpdateLoop = void (*)(float* w, const float* g, void* const* states, std::int64_t begin,
                            std::int64_t end, const Hyper& hyper);
// Adds Σ w² and Σ d² over [begin, end) to `squares`; d is the direction of the rule's update.
using MeasureLoop = void (*)(const float* w, const float* g, void* const* states,
                             std::int64_t begin, std::int64_t end, const Hyper& hyper,
                             double* squares);
// The loops of one update rule.
struct NamedUpdate {
  const char* rule;
  UpdateLoop loop;
  MeasureLoop measure;  // nullptr: the rule needs no norms
};

// Pooling windows over a plane of [height][width][channels] with contiguous channels. With one
// channel, windows must be 2×2 and tile the plane.
struct PoolPlane {
  std::int64_t channels, height, width, out_height, out_width;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, padding_h, padding_w;
};

// A row that is normalised: [blocks][repeats][lanes], with a gain for each of blocks × lanes. One
// gain per element has blocks = repeats = 1, one per channel of a plain image lanes = 1.
struct GainedRow {
  std::int64_t blocks, repeats, lanes;
};
// The statistics of one row.
struct Moments {
  float mean, r;  // r = 1 / √(variance + ε)
};

// `lines` lines side by side, each of `extent` elements that lie `stride` apart.
struct SoftmaxLines {
  std::int64_t extent, stride, lines;
};

// A row of sums of 8-bit products: y = sums · scale · column_scale + bias, multiplied by `slope`
// where it is negative.
struct DequantisedRow {
  std::int64_t n;
  const float *column_scale, *bias;  // bias: nullptr where there is none
  float slope;
  float scale = 0;
};

// A sample of local response normalisation: [channels][pixels], windows of 2 · reach + 1 channels.
struct ResponseSlab {
  std::int64_t channels, pixels, reach;
  float alpha, k;
};

// All loops of one instruction set, and its name.
struct Loops {
  const char* name;
  // Conversions of 16 bits to float, and back with rounding to the nearest, ties to even.
  void (*widen_bf16)(const std::uint16_t* x, float* y, std::int64_t n);
  void (*narrow_bf16)(const float* x, std::uint16_t* y, std::int64_t n);
  void (*widen_fp16)(const std::uint16_t* x, float* y, std::int64_t n);
  void (*narrow_fp16)(const float* x, std::uint16_t* y, std::int64_t n);
  void (*relu)(const float* x, float* y, std::int64_t n);
  void (*relu_grad)(const float* dy, const float* y, float* dx, std::int64_t n);
  void (*tanh_grad)(const float* dy, const float* y, float* dx, std::int64_t n);
  void (*sigmoid_grad)(const float* dy, const float* y, float* dx, std::int64_t n);
  void (*add)(const float* a, const float* b, float* y, std::int64_t n);
  void (*multiply)(const float* a, const float* b, float* y, std::int64_t n);
  void (*scale)(const float* x, float factor, float* y, std::int64_t n);
  // y[r][c] = x[r][c] + b[c]
  void (*add_row)(const float* x, const float* b, float* y, std::int64_t rows,
                  std::int64_t columns);
  // b[c] = Σ_r x[r * stride + c]
  void (*sum_rows)(const float* x, float* b, std::int64_t rows, std::int64_t columns,
                   std::int64_t stride);
  // y[c][r] = x[r][c] + bias[r], then ReLU; bias may be nullptr, strides are between rows.
  void (*turn)(const float* x, std::int64_t x_stride, float* y, std::int64_t y_stride,
               std::int64_t rows, std::int64_t columns, const float* bias, bool relu);
  // y = factor · x where the draw of (key, first + i) reaches the threshold, else 0.
  void (*dropout)(const float* x, float* y, std::int64_t n, std::uint64_t key, std::uint64_t first,
                  std::uint32_t threshold, float factor);
  // One plane: y = the maximum of each window, index = its position in the window.
  void (*max_pool)(const PoolPlane& plane, const float* x, float* y, std::uint8_t* index);
  void (*max_pool_grad)(const PoolPlane& plane, const float* dy, const std::uint8_t* index,
                        float* dx);
  // Over consecutive rows of `width` channels. channel_sums adds Σx to s1 and Σx² to s2;
  // normalise_sums adds Σdy and Σdy (x − mean), leaving out elements that a fused ReLU had set to
  // zero.
  void (*channel_sums)(const float* x, std::int64_t rows, std::int64_t width, double* s1,
                       double* s2);
  void (*normalise_sums)(const float* dy, const float* x, std::int64_t rows, std::int64_t width,
                         const float* mean, const float* scale, const float* shift, bool relu,
                         double* s1, double* s2);
  // y = (x − mean) · scale + shift (+ residual), then ReLU.
  void (*normalise)(const float* x, const float* residual, float* y, std::int64_t rows,
                    std::int64_t width, const float* mean, const float* scale, const float* shift,
                    bool relu);
  // dx = scale · dy + slope · (x − mean) + offset; `factors` are rows of mean, scale, shift, slope,
  // offset, `stride` apart.
  void (*normalise_grad)(const float* dy, const float* x, float* dx, std::int64_t rows,
                         std::int64_t width, const float* factors, std::int64_t stride, bool relu);
  void (*leaky_relu)(const float* x, float slope, float* y, std::int64_t n);
  // Returns Σ dy · x where x ≤ 0, the gradient of the slope.
  double (*leaky_relu_grad)(const float* dy, const float* x, float slope, float* dx,
                            std::int64_t n);
  double (*sum)(const float* x, std::int64_t n);
  double (*dot)(const float* a, const float* b, std::int64_t n);
  Moments (*moments)(const float* x, std::int64_t n, bool center, float epsilon);
  // y = (x - mean) · r · gain + shift; gain and shift may be nullptr.
  void (*sample_norm)(const GainedRow& row, const Moments& moments, const float* x,
                      const float* gain, const float* shift, float* y);
  // The gradient of sample_norm, which is added to dgain and dshift where they are given.
  void (*sample_norm_grad)(const GainedRow& row, const Moments& moments, bool center,
                           const float* dy, const float* x, const float* gain, float* dx,
                           float* dgain, float* dshift);
  void (*softmax)(const SoftmaxLines& lines, const float* x, float* y);
  void (*softmax_grad)(const SoftmaxLines& lines, const float* dy, const float* y, float* dx);
  // The cross-entropy of softmax(z) with the smoothed label; and its gradient times `factor`.
  double (*cross_entropy)(const float* z, std::int64_t classes, std::int64_t label,
                          double smoothing);
  void (*cross_entropy_grad)(const float* z, std::int64_t classes, std::int64_t label,
                             double smoothing, float factor, float* dz);
  void (*local_response)(const ResponseSlab& slab, const float* x, float* y);
  // `terms` is scratch memory of the size of x.
  void (*local_response_grad)(const ResponseSlab& slab, const float* dy, const float* x,
                              float* terms, float* dx);
  // q = x / scale to the nearest 8-bit integers; returns the scale, max |x| / 127.
  float (*quantise)(const float* x, std::int8_t* q, std::int64_t n);
  std::int32_t (*dot_i8)(const std::int8_t* a, const std::int8_t* b, std::int64_t n);
  void (*dequantise)(const DequantisedRow& row, const std::int32_t* sums, const float* residual,
                     float* y);
  double (*squared_error)(const float* p, const float* t, std::int64_t n);
  double (*huber)(const float* p, const float* t, float delta, std::int64_t n);
  // y = factor · (p - t), the difference cut off at ±delta
  void (*clipped_difference)(const float* p, const float* t, float delta, float factor, float* y,
                             std::int64_t n);
  double (*square_sum)(const float* x, std::int64_t n);
  const RowLoops* rows;
  const NamedUpdate* updates;
  int update_count;
};

// The loops of the best instruction set that this processor has.
const Loops& loops();

}  // namespace tutti::cpu
