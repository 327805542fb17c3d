// SPDX-License-Identifier: Apache-2.0
// .npy bytes for tests.
#pragma once

#include "data/scratch.h"

#include <fmt/format.h>

#include <cstring>

namespace tutti::data {

// A file as numpy.save writes it: the header is padded so that elements begin at a multiple of 64.
template <class T>
Bytes npy_bytes(const std::string& descr, const std::string& shape, const std::vector<T>& values,
                int version = 1, const std::string& fortran = "False") {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran, shape);
  const std::size_t prefix = version == 1 ? 10 : 12;
  while ((prefix + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  for (std::size_t i = 0; i < prefix - 8; ++i)
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  file += header;
  const std::size_t begin = file.size();
  file.resize(begin + values.size() * sizeof(T));
  std::memcpy(file.data() + begin, values.data(), values.size() * sizeof(T));
  return {file.begin(), file.end()};
}

}  // namespace tutti::data
