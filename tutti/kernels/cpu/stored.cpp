// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/stored.h"

#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {

bool is_half(const Value& value) {
  return !value.layout.plain() && onednn::as_it_lies(value).data_type == dnnl_bf16;
}

Layout widened(const Type& type, const Layout& layout) {
  const Value value{.name = "", .type = type, .layout = layout};
  if (!is_half(value)) return layout;
  return onednn::layout_of(onednn::stored_as(dnnl_f32, onednn::as_it_lies(value)));
}

void require_precision(const std::string& precision) {
  const bool able = __builtin_cpu_supports("avx512bf16");
  if (precision == "bf16" && !able)
    throw Error(
        "kernels.precision = \"bf16\" needs a processor that multiplies bf16 (AVX512-BF16), which "
        "this one does not; use f32");
}

}  // namespace tutti::cpu
