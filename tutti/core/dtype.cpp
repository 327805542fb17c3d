// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/dtype.h"

namespace tutti {

DType dtype_named(std::string_view name) {
  for (DType type :
       {DType::f32, DType::f64, DType::i32, DType::u8, DType::i8, DType::bf16, DType::i64})
    if (name_of(type) == name) return type;
  throw Error("unknown data type '{}': expected f32, bf16, f64, i32, i64, u8 or i8", name);
}

}  // namespace tutti
