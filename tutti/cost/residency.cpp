// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/residency.h"

#include "tutti/graph/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace tutti {
namespace {

// Memory is looked at in granules: small ones, and never more than so many of them, so that a
// network which is larger than any memory is priced in no time.
constexpr std::int64_t least_granule_bytes = 32 << 10, most_granules = 1 << 17;

std::int64_t granule_bytes_of(const Graph& graph) {
  std::array<std::int64_t, Base::most> ends = {};
  for (const Value& value : graph.values) {
    std::int64_t& end = ends[static_cast<std::size_t>(value.place.base)];
    if (value.place.offset_bytes >= 0)
      end = std::max(end, value.place.offset_bytes + value.bytes());
  }
  const std::int64_t bytes = std::accumulate(ends.begin(), ends.end(), std::int64_t{0});
  return std::max(least_granule_bytes, bytes / most_granules);
}

// Seconds per byte of a copy whose memory was last touched so many bytes ago.
double seconds_per_byte(const std::vector<StreamSample>& stream, double distance) {
  if (stream.empty()) return 0;
  const auto above = std::find_if(stream.begin(), stream.end(), [&](const StreamSample& sample) {
    return sample.bytes >= distance;
  });
  if (above == stream.begin()) return above->seconds_per_byte;
  if (above == stream.end()) return stream.back().seconds_per_byte;
  const auto below = above - 1;
  const double part = std::log(distance / below->bytes) / std::log(above->bytes / below->bytes);
  return std::lerp(below->seconds_per_byte, above->seconds_per_byte, part);
}

class Residency {
 public:
  Residency(const std::vector<StreamSample>& stream, std::int64_t granule_bytes)
      : stream_(stream), granule_bytes_(granule_bytes) {}

  // Seconds to fetch the value's memory, which is then the last touched.
  double touch(const Value& value) {
    if (value.place.offset_bytes < 0 || value.bytes() == 0) return 0;
    const std::int64_t first = value.place.offset_bytes / granule_bytes_;
    const std::int64_t last = (value.place.offset_bytes + value.bytes() - 1) / granule_bytes_;
    const double bytes = static_cast<double>(value.bytes()) / static_cast<double>(last - first + 1);
    double seconds = 0;
    for (std::int64_t granule = first; granule <= last; ++granule) {
      double& touched = last_[{value.place.base, granule}];
      seconds += bytes * seconds_per_byte(stream_, clock_ - touched);
      clock_ += bytes;
      touched = clock_;
    }
    return seconds;
  }

 private:
  const std::vector<StreamSample>& stream_;
  const std::int64_t granule_bytes_;
  // clock_ at the last touch, by base and granule.
  std::map<std::pair<int, std::int64_t>, double> last_;
  double clock_ = 0;  // bytes touched so far
};

// Whether the output is written where an input was just read.
bool in_place(const Graph& graph, const Node& node, ValueId output) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id != no_value && graph.value(id).place == graph.value(output).place;
  });
}

}  // namespace

std::vector<double> fetch_seconds(const Graph& graph, const std::vector<StreamSample>& stream) {
  Residency residency(stream, granule_bytes_of(graph));
  std::vector<double> seconds(graph.nodes.size());
  constexpr int steps = 2;  // the second finds in the caches what the first has left there
  for (int step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      seconds[i] = 0;
      if (node.op->view) continue;
      for (ValueId id : node.inputs)
        if (id != no_value) seconds[i] += residency.touch(graph.value(id));
      for (ValueId id : node.outputs)
        if (!in_place(graph, node, id)) seconds[i] += residency.touch(graph.value(id));
    }
  return seconds;
}

}  // namespace tutti
