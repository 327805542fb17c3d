// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: a magic number, a version, a Python dictionary with type, order and shape,
// then the elements; mapped, not loaded. Little-endian f4, f8, i4, i8 and u1 in C order are read.
#pragma once

#include "tutti/data/dataset.h"
#include "tutti/data/mapped_file.h"

#include <filesystem>
#include <string>

namespace tutti::data {

class NpyFile {
 public:
  enum Element { f4, f8, i4, i8, u1 };

  // Throws Error, naming the file, what was found and what was expected.
  explicit NpyFile(const std::filesystem::path& path);

  static bool is_npy(std::span<const std::uint8_t> bytes);

  const Shape& shape() const { return shape_; }
  Element element() const { return element_; }
  // Calls `use` with a pointer to the elements, of their own type; they need not be aligned to it.
  template <class Use>
  void visit(Use&& use) const {
    switch (element_) {
      case f4:
        return use(Unaligned<float>{values_});
      case f8:
        return use(Unaligned<double>{values_});
      case i4:
        return use(Unaligned<std::int32_t>{values_});
      case i8:
        return use(Unaligned<std::int64_t>{values_});
      case u1:
        return use(Unaligned<std::uint8_t>{values_});
    }
  }

 private:
  template <class T>
  struct Unaligned {
    const std::uint8_t* bytes;

    T operator[](std::int64_t i) const {
      T value;
      __builtin_memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
      return value;
    }
  };

  MappedFile file_;
  Shape shape_;
  Element element_ = f4;
  const std::uint8_t* values_ = nullptr;
};

// The shape of one sample of an array of them: n, n × features, n × height × width or n × channels
// × height × width.
Shape npy_sample_shape(const NpyFile& x, const std::string& file);

DatasetEntry npy();

}  // namespace tutti::data
