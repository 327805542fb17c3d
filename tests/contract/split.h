// SPDX-License-Identifier: Apache-2.0
// What a sharding rule means, carried out: splits one index of an operator, runs the reference on
// each part and combines the results. A window index "h+k" gives each part the rows that its
// outputs read, padding included, and runs it without padding. The outermost of a merged index
// "n·t" gives it the t rows of each n.
#pragma once

#include "tutti/graph/sharding.h"

#include "contract/interpreter.h"

#include <set>
#include <string>

namespace tutti::contract {

// The index by which a dimension is split: before the '+' of a window, the outermost of merged
// ones.
inline std::string outer_index(const std::string& written) {
  const std::string outermost = merged_indices(written)[0];
  return outermost.substr(0, outermost.find('+'));
}
inline bool is_window(const std::string& written) { return written.find('+') != std::string::npos; }

// The indices that may be split, with their extents. Kernel letters stay whole, and so do the inner
// ones of merged indices; an outermost one has its extent where it stands alone.
inline std::map<std::string, std::int64_t> splittable(const ShardingRule& rule,
                                                      const std::vector<Type>& in,
                                                      const std::vector<Type>& out) {
  std::set<std::string> kernel{"*"};
  std::map<std::string, std::int64_t> extents;
  const auto visit = [&](const auto& tensors, const std::vector<Type>& types) {
    for (std::size_t t = 0; t < tensors.size(); ++t)
      for (std::size_t d = 0; d < tensors[t].size(); ++d) {
        const std::string& written = tensors[t][d];
        const std::vector<std::string> merged = merged_indices(written);
        kernel.insert(merged.begin() + 1, merged.end());
        if (is_window(written))
          kernel.insert(written.substr(written.find('+') + 1));
        else if (merged.size() == 1)
          extents[written] = types[t].shape[d];
      }
  };
  visit(rule.inputs, in);
  visit(rule.outputs, out);
  for (const std::string& letter : kernel) extents.erase(letter);
  return extents;
}

// Adds (or, for integers, copies) `count` positions along `dimension` of `from`, starting at
// from_start, to those of `to` from to_start on; positions outside of either are left out.
inline void lay(const Array& from, std::int64_t from_start, Array& to, std::int64_t to_start,
                std::size_t dimension, std::int64_t count, bool add = false) {
  const Shape& shape = from.type.shape;
  const std::int64_t outer = elements(shape, 0, dimension);
  const std::int64_t inner = elements(shape, dimension + 1, shape.size());
  const std::int64_t from_extent = shape[dimension], to_extent = to.type.shape[dimension];
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t p = 0; p < count; ++p) {
      const std::int64_t source = from_start + p, target = to_start + p;
      if (source < 0 || source >= from_extent || target < 0 || target >= to_extent) continue;
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t at = (o * to_extent + target) * inner + i;
        const double value = from.get((o * from_extent + source) * inner + i);
        to.set(at, add ? to.get(at) + value : value);
      }
    }
}

// The rows of an image that outputs [begin, end) of a window read.
struct Reach {
  std::int64_t start = 0, count = 0;
};

inline std::int64_t list_entry(const Settings& settings, const char* name, std::size_t d) {
  const auto& list = settings.integers(name);
  return list.size() == 1 ? list[0] : list.at(d);
}

// Spatial dimension d of a convolution or pool; kernels without a setting are those of input 1.
inline Reach reach_of(const Settings& settings, const std::vector<Array>& in, std::size_t d,
                      std::int64_t begin, std::int64_t end) {
  const std::int64_t kernel =
      settings.has("kernel") ? list_entry(settings, "kernel", d) : in.at(1).type.shape.at(d + 2);
  const std::int64_t stride =
      settings.integers("stride").empty() ? kernel : list_entry(settings, "stride", d);
  const std::int64_t dilation = settings.has("dilation") ? list_entry(settings, "dilation", d) : 1;
  return {begin * stride - list_entry(settings, "padding", d),
          (end - begin - 1) * stride + dilation * (kernel - 1) + 1};
}

// The settings with which a part runs: its border rows are given, so nothing is padded.
inline Settings part_settings(Settings settings, std::size_t dimensions, std::size_t d,
                              const Reach& reach) {
  std::vector<std::int64_t> padding;
  for (std::size_t i = 0; i < dimensions; ++i)
    padding.push_back(i == d ? 0 : list_entry(settings, "padding", i));
  settings.set("padding", padding);
  if (settings.has("spatial")) {
    auto spatial = settings.integers("spatial");
    spatial.at(d) = reach.count;
    settings.set("spatial", spatial);
  }
  return settings;
}

struct SplitRun {
  const Op& op;
  const Settings& settings;
  const std::vector<Array>& in;
  ShardingRule rule;
  StepState step = {};
  double border = 0;  // what stands in the padding

  // Where the window of `index` lies, if it has one: the spatial dimension, and of how many.
  struct Windowed {
    bool found = false;
    std::size_t d = 0, dimensions = 0;
  };
  Windowed window_of(const std::string& index) const {
    for (const auto* tensors : {&rule.inputs, &rule.outputs})
      for (const auto& written : *tensors)
        for (std::size_t d = 0; d < written.size(); ++d)
          if (is_window(written[d]) && outer_index(written[d]) == index)
            return {true, d - 2, written.size() - 2};
    return {};
  }

  // Runs the part [begin, end) of `index` and lays its results into `whole`.
  void run_part(const std::string& index, std::int64_t begin, std::int64_t end,
                std::vector<Array>& whole) const {
    const Windowed window = window_of(index);
    const Reach reach =
        window.found ? reach_of(settings, in, window.d, begin, end) : Reach{begin, end - begin};
    const std::int64_t extent = splittable(rule, types_of(in), types_of(whole)).at(index);
    std::vector<Array> part_in = in;
    StepState part_step = step;
    for (std::size_t t = 0; t < rule.inputs.size(); ++t)
      for (std::size_t d = 0; d < rule.inputs[t].size(); ++d) {
        const std::string& written = rule.inputs[t][d];
        if (outer_index(written) != index) continue;
        Type type = in[t].type;
        const std::int64_t each = type.shape[d] / extent;  // rows, where indices are merged
        const Reach rows = is_window(written) ? reach : Reach{begin * each, (end - begin) * each};
        type.shape[d] = rows.count;
        part_in[t] = Array(type);
        if (is_float(type.dtype))
          for (std::int64_t i = 0; i < part_in[t].count(); ++i) part_in[t].set(i, border);
        lay(in[t], rows.start, part_in[t], 0, d, rows.count);
        if (t == 0 && d == 0) part_step.origins[StepState::samples] += rows.start;
      }
    const std::vector<Array> out = run_reference(
        op, window.found ? part_settings(settings, window.dimensions, window.d, reach) : settings,
        part_in, part_step);
    for (std::size_t t = 0; t < out.size(); ++t)
      combine(index, begin, extent, reach, rule.outputs[t], out[t], whole[t]);
  }

  // An index of the output is laid side by side, a window overlaps and adds, a reduced one adds.
  static void combine(const std::string& index, std::int64_t begin, std::int64_t extent,
                      const Reach& reach, const std::vector<std::string>& written,
                      const Array& part, Array& whole) {
    for (std::size_t d = 0; d < written.size(); ++d) {
      if (outer_index(written[d]) != index) continue;
      if (is_window(written[d]))
        lay(part, 0, whole, reach.start, d, reach.count, /*add=*/true);
      else
        lay(part, 0, whole, begin * whole.type.shape[d] / extent, d, part.type.shape[d]);
      return;
    }
    for (std::int64_t i = 0; i < whole.count(); ++i) whole.set(i, whole.get(i) + part.get(i));
  }

  std::vector<Array> in_two(const std::string& index, std::int64_t extent,
                            const std::vector<Type>& out_types) const {
    std::vector<Array> whole(out_types.begin(), out_types.end());
    run_part(index, 0, extent / 2, whole);
    run_part(index, extent / 2, extent, whole);
    return whole;
  }
};

}  // namespace tutti::contract
