// SPDX-License-Identifier: Apache-2.0
// Numbers become vectors: each value of the input is the number of a row of a learned table.
// Floating-point numbers are rounded first.
#include "tutti/ops/embedding.h"

#include "tutti/nn/layer.h"

namespace tutti::nn {

const Layer embedding{
    .name = "embedding",
    .doc = "each value is the number of a learned row; a sample of shape s becomes s × width",
    .settings = {{.name = "rows",
                  .initial = std::int64_t{1},
                  .doc = "rows of the table: values are 0 to rows - 1",
                  .min = 1,
                  .required = true},
                 {.name = "width",
                  .initial = std::int64_t{1},
                  .doc = "numbers in a row",
                  .min = 1,
                  .required = true}},
    .apply =
        [](Net& net, ValueId x, const Settings& settings) {
          const std::int64_t rows = settings.integer("rows"), width = settings.integer("width");
          const ValueId table = net.parameter(
              "weight", {rows, width}, {.kind = Initialiser::uniform_fan_in, .fan_in = width},
              {.row_sparse = true});
          const bool integers = net.graph.type(x).dtype == DType::i32;
          const ValueId index = integers ? x : net.graph.add1(ops::to_index, {x});
          return net.graph.add1(ops::embedding, {table, index});
        },
};

}  // namespace tutti::nn
