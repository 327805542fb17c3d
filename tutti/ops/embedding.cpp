// SPDX-License-Identifier: Apache-2.0
// Rows of a table by their numbers. The gradient adds each dy to its row and leaves rows that the
// index does not name at zero; embedding and embedding_grad are each other's gradient. Indices have
// no gradient. Where a step updates only the named rows, the other rows of the gradient are not
// written, as nobody reads them. Fields of a batch may be of any type: to_index makes row numbers
// of them, to_real floating-point numbers.
#include "tutti/ops/embedding.h"

#include "tutti/ops/shared/axis.h"
#include "tutti/ops/shared/traffic.h"

#include <algorithm>
#include <cmath>

namespace tutti::ops {
namespace {

// "a,b,c" for the dimensions of index.
std::string letters(const Shape& shape) {
  std::string text;
  for (std::size_t d = 0; d < shape.size(); ++d)
    text += std::string(1, static_cast<char>('a' + d)) + ",";
  return text;
}
std::string without_comma(std::string text) {
  if (!text.empty()) text.pop_back();
  return text;
}

void check_index(const char* name, const Type& index) {
  if (index.dtype != DType::i32)
    throw Error("[{}] index is {} {}, expected i32", name, name_of(index.dtype),
                to_string(index.shape));
}

// Calls function(T{}) with the C++ type of numbers in fields.
template <class Function>
void dispatch_number(DType type, Function&& function) {
  if (is_float(type)) return dispatch_float(type, function);
  if (type == DType::i32) return function(std::int32_t{});
  if (type == DType::u8) return function(std::uint8_t{});
  check(type == DType::i8, "fields are of these types");
  function(std::int8_t{});
}

void reference_to_index(const Call& call) {
  dispatch_number(call.in[0].dtype, [&](auto zero) {
    const auto* x = call.in[0].as<decltype(zero)>();
    for (std::int64_t i = 0; i < call.in[0].count(); ++i)
      call.out[0].as<std::int32_t>()[i] = static_cast<std::int32_t>(std::lround(x[i]));
  });
}

void reference_to_real(const Call& call) {
  dispatch_number(call.in[0].dtype, [&](auto from) {
    dispatch_float(call.out[0].dtype, [&](auto to) {
      const auto* x = call.in[0].as<decltype(from)>();
      for (std::int64_t i = 0; i < call.in[0].count(); ++i)
        call.out[0].as<decltype(to)>()[i] = static_cast<decltype(to)>(x[i]);
    });
  });
}

std::string sharding_alike(const Settings&, const std::vector<Type>& in) {
  const std::string x = without_comma(letters(in[0].shape));
  return fmt::format("x[{}] -> y[{}]", x, x);
}

void reference(const Call& call) {
  const std::int64_t rows = call.in[0].shape[0], width = call.in[0].shape[1];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t i = 0; i < call.in[1].count(); ++i)
      std::copy_n(
          call.in[0].as<T>() + row_at("embedding", call.in[1].as<std::int32_t>(), i, rows) * width,
          width, call.out[0].as<T>() + i * width);
  });
}

void reference_grad(const Call& call) {
  const std::int64_t rows = call.out[0].shape[0], width = call.out[0].shape[1];
  dispatch_float(call.out[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    T* dtable = call.out[0].as<T>();
    const auto row_of = [&](std::int64_t i) {
      return row_at("embedding_grad", call.in[1].as<std::int32_t>(), i, rows);
    };
    if (call.settings.flag("touched")) {
      for (std::int64_t i = 0; i < call.in[1].count(); ++i)
        std::fill_n(dtable + row_of(i) * width, width, T{0});
    } else {
      std::fill_n(dtable, rows * width, T{0});
    }
    for (std::int64_t i = 0; i < call.in[1].count(); ++i) {
      const std::int64_t row = row_of(i);
      for (std::int64_t k = 0; k < width; ++k)
        dtable[row * width + k] += call.in[0].as<T>()[i * width + k];
    }
  });
}

}  // namespace

std::int64_t row_at(const char* name, const std::int32_t* index, std::int64_t i,
                    std::int64_t rows) {
  if (index[i] < 0 || index[i] >= rows)
    throw Error("[{}] element {} of the index is {}, expected 0 to {}", name, i, index[i],
                rows - 1);
  return index[i];
}

const Op embedding{
    .name = "embedding",
    .doc = "y[…] = table[index[…]]: rows of a table by their numbers",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          check_index("embedding", in.at(1));
          if (!is_float(in[0].dtype) || in[0].shape.size() != 2)
            throw Error("[embedding] table is {} {}, expected floating-point rows × width",
                        name_of(in[0].dtype), to_string(in[0].shape));
          Type y{in[0].dtype, in[1].shape};
          y.shape.push_back(in[0].shape[1]);
          return std::vector<Type>{y};
        },
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          const std::int64_t rows = graph.shape(node.inputs[0])[0];
          return std::vector<ValueId>{
              graph.add1(embedding_grad, {dy[0], node.inputs[1]}, {{"rows", rows}}), no_value};
        },
    // Reads one row for each index.
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          Cost cost = cost_movement(settings, {in[1]}, out);
          cost.bytes_read += static_cast<double>(std::min(out[0].bytes(), in[0].bytes()));
          return cost;
        },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string index = letters(in[1].shape);
          return fmt::format("table[*,z] index[{}] -> y[{}z]", without_comma(index), index);
        },
    .reference = reference,
    .cases =
        [] {
          const Type table{DType::f64, {5, 4}};
          return std::vector<OpCase>{
              {.settings = {}, .in = {table, {DType::i32, {7}}}, .classes = 5},
              {.settings = {}, .in = {table, {DType::i32, {2, 3}}}, .classes = 5}};
        },
};

const Op embedding_grad{
    .name = "embedding_grad",
    .doc = "dtable: each dy added to the row it came from, other rows zero",
    .settings = {{.name = "rows",
                  .initial = std::int64_t{0},
                  .doc = "rows of the table",
                  .min = 1,
                  .required = true},
                 {.name = "touched",
                  .initial = false,
                  .doc = "rows that nobody asked for are not written at all"}},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          check_index("embedding_grad", in.at(1));
          Shape samples = in[0].shape;
          check(!samples.empty(), "dy has rows");
          samples.pop_back();
          check(samples == in[1].shape, "dy has a row for each index");
          return std::vector<Type>{{in[0].dtype, {settings.integer("rows"), in[0].shape.back()}}};
        },
    .gradient = [](Graph& graph, const Node& node,
                   const std::vector<ValueId>& v) -> std::vector<ValueId> {
      return {graph.add1(embedding, {v[0], node.inputs[1]}), no_value};
    },
    // Values of dy for the same row are added one after the other.
    .cost =
        [](const Settings& settings, const std::vector<Type>& in, const std::vector<Type>& out) {
          return with_traffic({.work = static_cast<double>(elements(in[0].shape)),
                               .depth = static_cast<double>(log2_ceiling(elements(in[1].shape)))},
                              in, settings.flag("touched") ? std::vector<Type>{in[0]} : out);
        },
    .sharding =
        [](const Settings&, const std::vector<Type>& in) {
          const std::string index = letters(in[1].shape);
          return fmt::format("dy[{}z] index[{}] -> dtable[*,z]", index, without_comma(index));
        },
    .reference = reference_grad,
    .cases =
        [] {
          const Settings rows{{"rows", std::int64_t{5}}};
          return std::vector<OpCase>{
              {.settings = rows, .in = {{DType::f64, {7, 4}}, {DType::i32, {7}}}, .classes = 5},
              {.settings = rows,
               .in = {{DType::f64, {2, 3, 4}}, {DType::i32, {2, 3}}},
               .classes = 5}};
        },
};

const Op to_index{
    .name = "to_index",
    .doc = "the nearest integers, as i32",
    .infer =
        [](const Settings&, const std::vector<Type>& in) {
          if (in.at(0).dtype == DType::i32 || in[0].dtype == DType::bf16)
            throw Error("[to_index] works on floating-point values and bytes, not {}",
                        name_of(in[0].dtype));
          return std::vector<Type>{{DType::i32, in[0].shape}};
        },
    .gradient = [](Graph&, const Node&,
                   const std::vector<ValueId>&) { return std::vector<ValueId>{no_value}; },
    .undifferentiable = "integers do not change smoothly",
    .cost = cost_movement,
    .sharding = sharding_alike,
    .reference = reference_to_index,
    .cases =
        [] {
          return std::vector<OpCase>{
              {{}, {{DType::f64, {4, 3}}}}, {{}, {{DType::i8, {4, 3}}}}, {{}, {{DType::u8, {5}}}}};
        },
};

const Op to_real{
    .name = "to_real",
    .doc = "integers as floating-point numbers",
    .settings = {{.name = "dtype",
                  .initial = std::string("f32"),
                  .doc = "element type of the result",
                  .choices = {"f32", "f64"}}},
    .infer =
        [](const Settings& settings, const std::vector<Type>& in) {
          if (is_float(in.at(0).dtype) || in[0].dtype == DType::bf16)
            throw Error("[to_real] works on integers, not {}", name_of(in[0].dtype));
          return std::vector<Type>{{dtype_named(settings.text("dtype")), in[0].shape}};
        },
    .gradient = [](Graph&, const Node&,
                   const std::vector<ValueId>&) { return std::vector<ValueId>{no_value}; },
    .undifferentiable = "integers do not change smoothly",
    .cost = cost_movement,
    .sharding = sharding_alike,
    .reference = reference_to_real,
    .cases =
        [] {
          return std::vector<OpCase>{
              {{}, {{DType::i32, {4, 3}}}}, {{}, {{DType::i8, {4, 3}}}}, {{}, {{DType::u8, {5}}}}};
        },
};

}  // namespace tutti::ops
