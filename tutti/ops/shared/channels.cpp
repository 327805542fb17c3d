// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/channels.h"

#include "tutti/ops/shared/window.h"

namespace tutti::ops {

Setting group_setting() {
  return {.name = "group",
          .initial = std::int64_t{0},
          .doc = "samples that are normalised together; 0: all of the batch",
          .min = 0};
}

Setting epsilon_setting() {
  return {.name = "epsilon",
          .initial = 1e-5,
          .doc = "added to the variance, so that constant channels can be divided",
          .min = 0};
}

Setting result_dtype_setting() {
  return {.name = "dtype",
          .initial = std::string("f32"),
          .doc = "element type of the results",
          .choices = {"f32", "f64"}};
}

Channels channels_of(const char* name, const Settings& settings, const Type& x) {
  if (!is_float(x.dtype) || x.shape.size() < 2)
    throw Error("[{}] x is {} {}, expected floating-point samples × channels × …", name,
                name_of(x.dtype), to_string(x.shape));
  Channels view{
      .samples = x.shape[0], .channels = x.shape[1], .inner = elements(x.shape, 2, x.shape.size())};
  const std::int64_t group = settings.integer("group");
  view.group = group == 0 ? std::max<std::int64_t>(view.samples, 1) : group;
  return view;
}

void check_is(const char* name, const char* what, const Type& type, const Shape& expected) {
  if (!is_float(type.dtype) || type.shape != expected)
    throw Error("[{}] {} is {} {}, expected floating-point {}", name, what, name_of(type.dtype),
                to_string(type.shape), to_string(expected));
}

void check_sums(const char* name, const Type& sums) {
  if (!is_float(sums.dtype) || sums.shape.size() != 3 || sums.shape[1] != sum_rows)
    throw Error("[{}] sums are {} {}, expected floating-point groups×{}×channels", name,
                name_of(sums.dtype), to_string(sums.shape), sum_rows);
}

Shape sums_shape(const Channels& view) { return {view.groups(), sum_rows, view.channels}; }
Shape statistics_shape(const Channels& view) { return {view.groups(), view.channels}; }

std::string channel_indices(const Settings& settings, const Type& x) {
  const std::string first = settings.integer("group") == 0 ? "n,c" : "n·g,c";
  return x.shape.size() == 2 ? first : first + "," + output_indices(x.shape.size() - 2);
}

std::string group_index(const Settings& settings) {
  return settings.integer("group") == 0 ? "*" : "n";
}

}  // namespace tutti::ops
