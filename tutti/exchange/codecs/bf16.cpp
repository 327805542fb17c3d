// SPDX-License-Identifier: Apache-2.0
// Gradients rounded to 16 bits (G02): half the bytes.
#include "tutti/exchange/codecs/codec.h"
#include "tutti/exchange/scheme.h"
#include "tutti/ops/cast.h"

namespace tutti {
namespace {

ValueId cast(Graph& graph, ValueId x, DType to) {
  return graph.add1(ops::cast, {x}, {{"to", std::string(name_of(to))}});
}

}  // namespace

extern const Codec bf16_codec;

const Codec bf16_codec{
    .name = "bf16",
    .doc =
        "gradients are rounded to 16 bits before they travel and are summed so; weights travel "
        "in full",
    .objection = [](const Scheme&, const SchemeUse& use) -> std::string {
      return use.dtype == DType::f64 ? "train.dtype is f64, expected f32" : "";
    },
    .dtype = DType::bf16,
    .encode = [](Graph& graph, const Settings&,
                 ValueId plain) { return cast(graph, plain, DType::bf16); },
    .decode = [](Graph& graph, const Settings&, ValueId encoded,
                 DType dtype) { return cast(graph, encoded, dtype); },
};

}  // namespace tutti
