// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/idx.h"

#include "tutti/core/error.h"
#include "tutti/data/gzip.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::data {
namespace {

using Bytes = std::span<const std::uint8_t>;
constexpr std::size_t magic_bytes = 4, extent_bytes = 4;

// Checks the magic number and returns the number of dimensions.
std::size_t dimensions_of(Bytes bytes, const std::string& file) {
  if (bytes.size() < magic_bytes)
    throw Error("{}: the file has {} bytes, too few for an IDX header", file, bytes.size());
  if (bytes[0] != 0 || bytes[1] != 0)
    throw Error(
        "{}: not an IDX file: it begins with {:02x}, expected 00 00 08 and the number of "
        "dimensions",
        file, fmt::join(bytes.first(magic_bytes), " "));
  if (bytes[2] != 0x08)
    throw Error("{}: IDX elements of type 0x{:02x}, expected 0x08 (bytes); convert the file", file,
                bytes[2]);
  const std::size_t dimensions = bytes[3];
  if (dimensions == 0) throw Error("{}: IDX file of 0 dimensions, expected 1 to 4", file);
  if (bytes.size() < magic_bytes + dimensions * extent_bytes)
    throw Error("{}: the file ends inside its header: {} bytes, expected {} for {} dimensions",
                file, bytes.size(), magic_bytes + dimensions * extent_bytes, dimensions);
  return dimensions;
}

Shape extents_of(Bytes bytes, std::size_t dimensions) {
  Shape shape;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const Bytes word = bytes.subspan(magic_bytes + i * extent_bytes, extent_bytes);
    shape.push_back(std::int64_t{word[0]} << 24 | word[1] << 16 | word[2] << 8 | word[3]);
  }
  return shape;
}

void check_length(const Shape& shape, std::size_t held, const std::string& file) {
  std::int64_t expected = 1;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(expected, extent, &expected))
      throw Error(
          "{}: the IDX header announces {} elements, more than any file can hold; the file "
          "is damaged",
          file, to_string(shape));
  const auto found = static_cast<std::int64_t>(held);
  if (found < expected)
    throw Error(
        "{}: the file is cut off: {} bytes follow the IDX header, expected {} for {}; fetch "
        "the file again",
        file, found, expected, to_string(shape));
  if (found > expected)
    throw Error(
        "{}: {} bytes follow the IDX header, expected {} for {}; the last {} belong to "
        "nothing",
        file, found, expected, to_string(shape), found - expected);
}

}  // namespace

IdxFile::IdxFile(const std::filesystem::path& path) : file_(path) {
  Bytes bytes = file_.bytes();
  if (is_gzip(bytes)) {
    unpacked_ = gunzip(bytes, path.string());
    bytes = unpacked_;
  }
  const std::size_t dimensions = dimensions_of(bytes, path.string());
  shape_ = extents_of(bytes, dimensions);
  values_ = bytes.subspan(magic_bytes + dimensions * extent_bytes);
  check_length(shape_, values_.size(), path.string());
}

IdxFile open_idx_images(const std::filesystem::path& path) {
  IdxFile file(path);
  const std::size_t dimensions = file.shape().size();
  if (dimensions < 2 || dimensions > 4)
    throw Error(
        "{}: IDX file of {} dimension{}, expected 2 to 4 for images (count, channels, "
        "height, width){}",
        path.string(), dimensions, dimensions == 1 ? "" : "s",
        dimensions == 1 ? "; is this the file of labels?" : "");
  if (elements(file.shape()) == 0)
    throw Error("{}: the file holds no images ({})", path.string(), to_string(file.shape()));
  return file;
}

Shape idx_sample_shape(const IdxFile& images) {
  Shape shape(images.shape().begin() + 1, images.shape().end());
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  return shape;
}

IdxFile open_idx_labels(const std::filesystem::path& path, std::int64_t count, std::int64_t classes,
                        const std::filesystem::path& images) {
  IdxFile file(path);
  if (file.shape().size() != 1)
    throw Error("{}: IDX file of {} dimensions, expected 1 for labels; is this a file of images?",
                path.string(), file.shape().size());
  if (file.shape()[0] != count)
    throw Error("{} has {} labels but {} has {} images; expected equally many", path.string(),
                file.shape()[0], images.string(), count);
  const auto values = file.values();
  const auto wrong = std::find_if(values.begin(), values.end(),
                                  [&](std::uint8_t label) { return label >= classes; });
  if (wrong != values.end())
    throw Error("{}: label {} at position {}, expected 0 to {}", path.string(), *wrong,
                wrong - values.begin(), classes - 1);
  return file;
}

}  // namespace tutti::data
