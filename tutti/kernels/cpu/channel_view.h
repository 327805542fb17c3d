// SPDX-License-Identifier: Apache-2.0
// How the channels of x[n,c,…] lie in memory: blocks of `width` neighbouring channels, each block a
// plane of rows. Row-major images are blocks of one channel, channels-last ones a single block.
#pragma once

#include "tutti/graph/graph.h"

#include <optional>
#include <vector>

namespace tutti::cpu {

struct ChannelView {
  std::int64_t samples = 1, channels = 1, rows = 1;  // rows: spatial positions of a sample
  std::int64_t blocks = 1, width = 1;                // blocks · width ≥ channels
  std::int64_t sample_stride = 0, block_stride = 0, row_stride = 0;

  std::int64_t padded() const { return blocks * width; }
  // Whether the rows of a block follow one another without gaps through all samples.
  bool continuous() const { return blocks == 1; }
};

// The view of x; nothing when its channels do not lie in such blocks.
std::optional<ChannelView> channel_view(const Value& x);

// Neighbouring samples of one group, which one task sums up. How samples are cut into chunks
// depends on the sizes only, so that results do not depend on the number of threads.
struct Chunk {
  std::int64_t first = 0, last = 0;  // samples [first, last)
  std::int64_t group = 0;
};
std::vector<Chunk> chunks_of(std::int64_t samples, std::int64_t group);

}  // namespace tutti::cpu
