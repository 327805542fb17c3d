// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/cpu/stored.h"

#include "tutti/kernels/cpu/primitive.h"

namespace tutti::cpu {

Format format_of(const Value& value) {
  if (value.layout.plain()) return Format::f32;
  const dnnl_data_type_t type = onednn::as_it_lies(value).data_type;
  return type == dnnl_bf16 ? Format::bf16 : type == dnnl_f16 ? Format::fp16 : Format::f32;
}

Layout readable(const Implementation* one, const Type& type, const Layout& layout) {
  const Value value{.name = "", .type = type, .layout = layout};
  const Format format = format_of(value);
  if (format == Format::f32) return layout;
  if (one != nullptr && (format == Format::bf16 ? one->bf16 : one->fp16)) return layout;
  return onednn::layout_of(onednn::stored_as(dnnl_f32, onednn::as_it_lies(value)));
}

Layout narrowed(const Type& type, const Layout& layout) {
  const Value value{.name = "", .type = type, .layout = layout};
  const dnnl_memory_desc_t md = onednn::as_it_lies(value);
  if (md.data_type != dnnl_f32 || md.format_kind != dnnl_blocked) return layout;
  return onednn::layout_of(onednn::stored_as(dnnl_f16, md));
}

void require_precision(const std::string& precision) {
  const bool able = __builtin_cpu_supports("avx512bf16");
  if (precision == "bf16" && !able)
    throw Error(
        "kernels.precision = \"bf16\" needs a processor that multiplies bf16 (AVX512-BF16), which "
        "this one does not; use f32");
}

}  // namespace tutti::cpu
