// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/npy.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace tutti::data {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> elements_known = {
    {{"<f4", 4}, {"<f8", 8}, {"<i4", 4}, {"<i8", 8}, {"|u1", 1}, {"<f2", 2}, {"|b1", 1}}};

// The dictionary, and where the elements begin.
struct Header {
  std::string_view dictionary;
  std::size_t end = 0;
};

Header header_of(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + 4)
    throw Error("{}: not a .npy file: it does not begin with NumPy's signature", file);
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const int major = byte(6);
  if (major < 1 || major > 3)
    throw Error("{}: .npy version {}, expected 1, 2 or 3; save it again with numpy.save", file,
                major);
  const std::size_t length_bytes = major == 1 ? 2 : 4, first = 8 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && 8 + i < bytes.size(); ++i)
    length |= std::size_t{byte(8 + i)} << (8 * i);
  if (bytes.size() < first + length)
    throw Error("{}: the file ends inside its header; it is cut off", file);
  return {bytes.substr(first, length), first + length};
}

// The text that follows 'key': in the dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key,
                          const std::string& file) {
  const std::size_t found = dictionary.find(fmt::format("'{}':", key));
  if (found == std::string_view::npos)
    throw Error("{}: the .npy header has no '{}'; the file is damaged", file, key);
  std::string_view value = dictionary.substr(found + key.size() + 3);
  while (value.starts_with(' ')) value.remove_prefix(1);
  return value;
}

NpyFile::Element element_of(std::string_view dictionary, const std::string& file) {
  const std::string_view value = value_of(dictionary, "descr", file);
  for (std::size_t i = 0; i < elements_known.size(); ++i)
    if (value.starts_with(fmt::format("'{}'", elements_known[i].first)))
      return static_cast<NpyFile::Element>(i);
  const std::string_view found = value.substr(0, value.find(','));
  throw Error(
      "{}: elements are {}{}, expected little-endian numbers <f2, <f4, <f8, <i4, <i8, |u1 or |b1; "
      "convert them with numpy's astype",
      file, found, found.find('O') != std::string_view::npos ? " (Python objects)" : "");
}

Shape shape_in(std::string_view dictionary, const std::string& file) {
  std::string_view value = value_of(dictionary, "shape", file);
  const std::size_t end = value.find(')');
  if (!value.starts_with('(') || end == std::string_view::npos)
    throw Error("{}: the shape in the .npy header is no tuple; the file is damaged", file);
  value = value.substr(1, end - 1);
  Shape shape;
  while (true) {
    while (value.starts_with(' ') || value.starts_with(',')) value.remove_prefix(1);
    if (value.empty()) return shape;
    std::int64_t extent = 0;
    const auto [rest, failure] = std::from_chars(value.data(), value.data() + value.size(), extent);
    if (failure != std::errc() || extent < 0)
      throw Error("{}: the shape in the .npy header is not made of numbers; the file is damaged",
                  file);
    shape.push_back(extent);
    value.remove_prefix(static_cast<std::size_t>(rest - value.data()));
  }
}

}  // namespace

bool NpyFile::is_npy(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), reinterpret_cast<const char*>(bytes.data()));
}

NpyFile::NpyFile(const std::filesystem::path& path) : file_(path) {
  const std::string file = path.string();
  const std::string_view bytes(reinterpret_cast<const char*>(file_.bytes().data()),
                               file_.bytes().size());
  const Header header = header_of(bytes, file);
  element_ = element_of(header.dictionary, file);
  if (!value_of(header.dictionary, "fortran_order", file).starts_with("False"))
    throw Error(
        "{}: the array is in Fortran order, expected C order; save "
        "numpy.ascontiguousarray(array)",
        file);
  shape_ = shape_in(header.dictionary, file);
  std::int64_t expected = elements_known[element_].second;
  for (const std::int64_t extent : shape_)
    if (__builtin_mul_overflow(expected, extent, &expected))
      throw Error("{}: the .npy header announces {} elements; the file is damaged", file,
                  to_string(shape_));
  const auto found = static_cast<std::int64_t>(bytes.size() - header.end);
  if (found != expected)
    throw Error("{}: {} bytes follow the .npy header, expected {} for {}{}", file, found, expected,
                to_string(shape_), found < expected ? "; the file is cut off" : "");
  values_ = file_.bytes().data() + header.end;
}

Shape npy_sample_shape(const NpyFile& x, const std::string& file) {
  const Shape& shape = x.shape();
  if (shape.empty() || shape.size() > 4 || elements(shape) == 0)
    throw Error("{} is an array of {}, expected samples first and 1 to 4 extents above 0", file,
                to_string(shape));
  Shape sample(shape.begin() + 1, shape.end());
  if (sample.size() != 1 && sample.size() != 3) sample.insert(sample.begin(), 1);
  return sample;
}

}  // namespace tutti::data
