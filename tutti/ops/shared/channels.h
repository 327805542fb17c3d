// SPDX-License-Identifier: Apache-2.0
// Statistics per channel of x[n,c,…], over all samples or over groups of samples. Sums are a tensor
// sums[g,3,c]: for each group and channel Σa, Σb and the number of summands. They are f64 whatever
// x is, so that differences of large sums keep their digits.
#pragma once

#include "tutti/graph/op.h"

#include <algorithm>

namespace tutti::ops {

// How x[n,c,…] is seen: samples × channels × `inner` positions.
struct Channels {
  std::int64_t samples = 1, channels = 1, inner = 1;
  std::int64_t group = 1;  // samples that are normalised together

  std::int64_t groups() const { return (samples + group - 1) / group; }
  std::int64_t count() const { return samples * channels * inner; }
};

// What the middle index of sums[g,3,c] says.
constexpr std::int64_t first_sum = 0, second_sum = 1, sum_count = 2, sum_rows = 3;

// `group`: how many samples are normalised together; 0: all samples.
Setting group_setting();
// `epsilon`: added to the variance.
Setting epsilon_setting();
// `dtype`: the type of results that are made from sums.
Setting result_dtype_setting();

// The samples, channels and positions of x[n,c,…]; throws unless it has samples and channels.
Channels channels_of(const char* name, const Settings& settings, const Type& x);

// Throws unless `type` is floating-point and of this shape; `what` names the tensor in the message.
void check_is(const char* name, const char* what, const Type& type, const Shape& expected);
// Throws unless `sums` is [g,3,c].
void check_sums(const char* name, const Type& sums);
Shape sums_shape(const Channels& view);
Shape statistics_shape(const Channels& view);  // [g,c]

// Index letters of x: "n,c,h,w", or "n·g,c,h,w" where n counts groups of samples.
std::string channel_indices(const Settings& settings, const Type& x);
// The index of the group dimension of sums: "*" where there is one group of all samples, else "n".
std::string group_index(const Settings& settings);

// Calls visit(element, group · channels + channel, channel) in row-major order.
template <class Visit>
void for_each_channel(const Channels& view, Visit&& visit) {
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < view.samples; ++n)
    for (std::int64_t c = 0; c < view.channels; ++c)
      for (std::int64_t k = 0; k < view.inner; ++k)
        visit(i++, n / view.group * view.channels + c, c);
}

}  // namespace tutti::ops
