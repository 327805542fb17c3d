// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/network.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Seconds on the straight line between the samples around `bytes`; beyond the last sample, at its
// rate.
double between(const std::vector<LinkSample>& samples, double LinkSample::*seconds, double bytes) {
  const auto above = std::find_if(samples.begin(), samples.end(),
                                  [&](const LinkSample& sample) { return sample.bytes >= bytes; });
  if (above == samples.begin()) return samples.front().*seconds;
  if (above == samples.end()) return samples.back().*seconds * bytes / samples.back().bytes;
  const LinkSample &high = *above, &low = *(above - 1);
  return std::lerp(low.*seconds, high.*seconds, (bytes - low.bytes) / (high.bytes - low.bytes));
}

}  // namespace

double LinkCost::message_seconds(double bytes) const {
  if (samples.empty()) return latency_seconds + bytes * seconds_per_byte;
  return between(samples, &LinkSample::message_seconds, bytes);
}

double LinkCost::add_seconds(double bytes) const {
  if (samples.empty()) return bytes * seconds_per_added_byte;
  return bytes == 0 ? 0 : between(samples, &LinkSample::add_seconds, bytes);
}

LinkCost link_of(std::vector<LinkSample> samples) {
  if (samples.empty()) return {};
  const LinkSample &shortest = samples.front(), &longest = samples.back();
  LinkCost link{.latency_seconds = shortest.message_seconds,
                .seconds_per_byte = (longest.message_seconds - shortest.message_seconds) /
                                    std::max(1.0, longest.bytes - shortest.bytes),
                .seconds_per_added_byte = longest.add_seconds / longest.bytes};
  link.samples = std::move(samples);
  return link;
}

}  // namespace tutti
