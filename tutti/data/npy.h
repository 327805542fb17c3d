// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: a magic number, a version, a Python dictionary with type, order and shape,
// then the elements; mapped, not loaded. Little-endian f2, f4, f8, i4, i8, u1 and b1 in C order
// are read.
#pragma once

#include "tutti/core/half.h"
#include "tutti/data/dataset.h"
#include "tutti/data/mapped_file.h"

#include <filesystem>
#include <string>

namespace tutti::data {

class NpyFile {
 public:
  enum Element { f4, f8, i4, i8, u1, f2, b1 };

  // Throws Error, naming the file, what was found and what was expected.
  explicit NpyFile(const std::filesystem::path& path);

  static bool is_npy(std::span<const std::uint8_t> bytes);

  const Shape& shape() const { return shape_; }
  Element element() const { return element_; }
  // Whether elements are floating-point numbers.
  bool is_real() const { return element_ == f2 || element_ == f4 || element_ == f8; }
  // Calls `use` with an object whose [i] is element i, in the type of the file; f2 comes as float,
  // b1 as 0 or 1.
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
      case f2:
        return use(Halves{values_});
      case b1:
        return use(Flags{values_});
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

  struct Halves {
    const std::uint8_t* bytes;

    float operator[](std::int64_t i) const {
      return float_of_half(Unaligned<std::uint16_t>{bytes}[i]);
    }
  };
  struct Flags {
    const std::uint8_t* bytes;

    std::uint8_t operator[](std::int64_t i) const { return bytes[i] != 0 ? 1 : 0; }
  };

  MappedFile file_;
  Shape shape_;
  Element element_ = f4;
  const std::uint8_t* values_ = nullptr;
};

// The shape of one sample, channels first, of an array of n samples: n, n × features, n × height ×
// width or n × channels × height × width.
Shape npy_sample_shape(const NpyFile& x, const std::string& file);

DatasetEntry npy();

}  // namespace tutti::data
