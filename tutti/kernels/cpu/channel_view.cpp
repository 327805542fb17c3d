// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/channel_view.h"

#include "tutti/kernels/cpu/primitive.h"

#include <algorithm>

namespace tutti::cpu {
namespace {

constexpr std::int64_t most_chunks = 64;

// Whether the spatial dimensions are row-major with `step` elements between positions.
bool positions_apart(const dnnl_memory_desc_t& md, std::int64_t step) {
  for (int d = md.ndims; d-- > 2;) {
    if (md.dims[d] > 1 && md.format_desc.blocking.strides[d] != step) return false;
    step *= md.dims[d];
  }
  return true;
}

}  // namespace

std::optional<ChannelView> channel_view(const Value& x) {
  const Shape& shape = x.type.shape;
  if (shape.size() < 2 || x.type.dtype != DType::f32) return std::nullopt;
  ChannelView view{
      .samples = shape[0], .channels = shape[1], .rows = elements(shape, 2, shape.size())};
  const dnnl_memory_desc_t md = onednn::as_it_lies(x);
  const dnnl_blocking_desc_t& blocking = md.format_desc.blocking;
  if (md.format_kind != dnnl_blocked || blocking.inner_nblks > 1) return std::nullopt;
  if (blocking.inner_nblks == 1) {  // nChw16c
    if (blocking.inner_idxs[0] != 1) return std::nullopt;
    view.width = view.row_stride = blocking.inner_blks[0];
    view.blocks = md.padded_dims[1] / view.width;
  } else if (view.rows == 1 || (blocking.strides[1] == 1 && view.channels > 1)) {  // nhwc
    view.width = view.row_stride = view.channels;
  } else {
    view.blocks = view.channels;
    view.row_stride = 1;
  }
  view.block_stride = view.rows * view.row_stride;
  view.sample_stride = view.blocks * view.block_stride;
  if (!positions_apart(md, view.row_stride)) return std::nullopt;
  if (view.samples > 1 && blocking.strides[0] != view.sample_stride) return std::nullopt;
  return view;
}

std::vector<Chunk> chunks_of(std::int64_t samples, std::int64_t group) {
  if (group == 0) group = samples;
  const std::int64_t groups = (samples + group - 1) / group;
  const std::int64_t per_group = std::max<std::int64_t>(1, most_chunks / groups);
  const std::int64_t piece = (group + per_group - 1) / per_group;
  std::vector<Chunk> chunks;
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t first = g * group; first < std::min(samples, (g + 1) * group); first += piece)
      chunks.push_back({first, std::min({samples, (g + 1) * group, first + piece}), g});
  return chunks;
}

}  // namespace tutti::cpu
