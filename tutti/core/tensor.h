// SPDX-License-Identifier: Apache-2.0
// A Tensor is a typed view of memory that somebody else owns; a Buffer owns aligned host memory.
#pragma once

#include "tutti/core/dtype.h"
#include "tutti/core/shape.h"

#include <cstddef>
#include <memory>

namespace tutti {

struct Tensor {
  DType dtype = DType::f32;
  Shape shape;
  void* data = nullptr;

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
  std::int64_t count() const { return elements(shape); }
  std::int64_t bytes() const { return count() * bytes_of(dtype); }
};

// Zero-filled host memory, aligned to a page when large (to a huge page when very large) and to a
// cache line otherwise.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t bytes);

  std::byte* data() const { return memory_.get(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    std::size_t mapped_bytes;  // 0: the memory came from the heap
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace tutti
