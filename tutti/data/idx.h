// SPDX-License-Identifier: Apache-2.0
// IDX files, the format of MNIST: two zero bytes, the element type, the number of dimensions, the
// extents as big-endian 32-bit numbers, then the elements. Only bytes (type 0x08) are read. A plain
// file is mapped; a gzip'd one, told by its first bytes, is unpacked into memory.
#pragma once

#include "tutti/core/shape.h"
#include "tutti/data/mapped_file.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace tutti::data {

class IdxFile {
 public:
  // Throws Error, naming the file, what was found and what was expected.
  explicit IdxFile(const std::filesystem::path& path);

  const Shape& shape() const { return shape_; }
  std::span<const std::uint8_t> values() const { return values_; }
  bool mapped() const { return unpacked_.empty(); }  // false: it was gzip'd

 private:
  MappedFile file_;
  std::vector<std::uint8_t> unpacked_;
  Shape shape_;
  std::span<const std::uint8_t> values_;
};

// Opens a file of images: count × features, count × height × width or count × channels × height ×
// width.
IdxFile open_idx_images(const std::filesystem::path& path);

// The shape of one sample of such a file, channels first.
Shape idx_sample_shape(const IdxFile& images);

// Opens a file of `count` labels, each below `classes`; `images` is the file they belong to.
IdxFile open_idx_labels(const std::filesystem::path& path, std::int64_t count, std::int64_t classes,
                        const std::filesystem::path& images);

}  // namespace tutti::data
