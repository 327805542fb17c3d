// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/convolution_geometry.h"

namespace tutti::ops {
namespace {

// Completes the geometry with windows and output extents, or says what does not fit.
Geometry completed(const char* name, const Settings& settings, Geometry geometry) {
  geometry.groups = settings.integer("groups");
  if (geometry.c % geometry.groups != 0 || geometry.o % geometry.groups != 0)
    throw Error("[{}] {} input and {} output channels can't be divided into {} groups", name,
                geometry.c, geometry.o, geometry.groups);
  geometry.windows = convolution_windows(name, settings, geometry.kernel);
  geometry.pixels = output_extents(name, geometry.windows, geometry.image);
  return geometry;
}

void check_factors(const char* name, const char* left, const char* right,
                   const std::vector<Type>& in) {
  check_image(name, left, in.at(0));
  check_image(name, right, in.at(1));
  if (in[0].dtype != in[1].dtype || in[0].shape.size() != in[1].shape.size())
    throw Error("[{}] {} is {} {} and {} is {} {}, expected one type and equal rank", name, left,
                name_of(in[0].dtype), to_string(in[0].shape), right, name_of(in[1].dtype),
                to_string(in[1].shape));
}

// Throws unless dy has the shape that the forward operator would return: gradients take one of the
// extents from a setting.
Geometry checked_against(const char* name, Geometry geometry, const Type& dy) {
  const Shape expected = image_type(dy.dtype, geometry.n, geometry.o, geometry.pixels).shape;
  if (dy.shape != expected)
    throw Error("[{}] dy is {}, but the convolution returns {}", name, to_string(dy.shape),
                to_string(expected));
  return geometry;
}

}  // namespace

Type image_type(DType dtype, std::int64_t outer, std::int64_t channels, const Shape& spatial) {
  Type type{dtype, {outer, channels}};
  type.shape.insert(type.shape.end(), spatial.begin(), spatial.end());
  return type;
}

Setting kernel_setting() {
  return {.name = "kernel",
          .initial = std::vector<std::int64_t>{},
          .doc = "spatial extents of w",
          .min = 1,
          .required = true};
}

Cost products_cost(const Geometry& geometry, double depth) {
  return {
      .work = geometry.multiply_adds(), .depth = depth, .multiply_adds = geometry.multiply_adds()};
}

Geometry forward_geometry(const Settings& settings, const std::vector<Type>& in) {
  constexpr const char* name = "convolution";
  check_factors(name, "x", "w", in);
  const Shape &x = in[0].shape, &w = in[1].shape;
  const std::int64_t groups = settings.integer("groups");
  if (x[1] != w[1] * groups)
    throw Error("[{}] x has {} channels, but w has {} in each of {} groups", name, x[1], w[1],
                groups);
  return completed(
      name, settings,
      {.n = x[0], .c = x[1], .o = w[0], .kernel = spatial_of(w), .image = spatial_of(x)});
}

Geometry input_geometry(const Settings& settings, const std::vector<Type>& in) {
  constexpr const char* name = "convolution_grad_input";
  check_factors(name, "dy", "w", in);
  const Shape &dy = in[0].shape, &w = in[1].shape;
  return checked_against(name,
                         completed(name, settings,
                                   {.n = dy[0],
                                    .c = w[1] * settings.integer("groups"),
                                    .o = w[0],
                                    .kernel = spatial_of(w),
                                    .image = settings.integers("spatial")}),
                         in[0]);
}

Geometry weight_geometry(const Settings& settings, const std::vector<Type>& in) {
  constexpr const char* name = "convolution_grad_weight";
  check_factors(name, "x", "dy", in);
  const Shape &x = in[0].shape, &dy = in[1].shape;
  return checked_against(name,
                         completed(name, settings,
                                   {.n = x[0],
                                    .c = x[1],
                                    .o = dy[1],
                                    .kernel = settings.integers("kernel"),
                                    .image = spatial_of(x)}),
                         in[1]);
}

std::vector<ConvolutionCase> convolution_cases() {
  using Integers = std::vector<std::int64_t>;
  return {
      {{}, {2, 3, 7}, {2, 3, 3}},
      {{{"stride", Integers{2}}, {"padding", Integers{1}}}, {2, 2, 8}, {3, 2, 3}},
      {{}, {2, 3, 5, 6}, {4, 3, 3, 2}},
      {{{"padding", Integers{1}}}, {2, 2, 5, 5}, {3, 2, 3, 3}},
      {{{"stride", Integers{2}}}, {2, 2, 7, 6}, {3, 2, 3, 2}},
      {{{"dilation", Integers{2}}, {"padding", Integers{2, 1}}}, {1, 2, 6, 7}, {2, 2, 3, 3}},
      {{{"groups", std::int64_t{2}}, {"padding", Integers{1}}}, {2, 4, 5, 4}, {6, 2, 3, 3}},
      {{{"groups", std::int64_t{3}}, {"stride", Integers{1, 2}}}, {2, 3, 4, 5}, {3, 1, 2, 2}},
      {{{"stride", Integers{2}}, {"dilation", Integers{2}}, {"padding", Integers{2}}},
       {2, 1, 9, 8},
       {2, 1, 3, 2}},
      {{}, {2, 3, 4, 4}, {2, 3, 1, 1}},
      {{{"stride", Integers{1, 2, 1}}, {"padding", Integers{1, 0, 1}}},
       {2, 2, 3, 5, 4},
       {2, 2, 2, 3, 3}},
  };
}

}  // namespace tutti::ops
