// SPDX-License-Identifier: Apache-2.0
// Files for the tests of data: a folder to write into, IDX and gzip bytes.
#pragma once

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace tutti::data {

using Bytes = std::vector<std::uint8_t>;

// A temporary folder that files of given bytes can be written into.
class Scratch {
 public:
  std::filesystem::path folder() const { return temporary_.path(); }
  std::string write(const std::string& name, const Bytes& bytes) const {
    const std::filesystem::path path = folder() / name;
    std::filesystem::create_directories(path.parent_path());
    write_bytes(path.string(), std::string(bytes.begin(), bytes.end()));
    return path.string();
  }

 private:
  TemporaryFolder temporary_;
};

// An environment variable changed for the length of a test; nullptr removes it.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before, was_set_ = true;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~Environment() { was_set_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};

inline Bytes idx_bytes(const std::vector<std::uint32_t>& shape, const Bytes& values) {
  Bytes bytes = {0, 0, 8, static_cast<std::uint8_t>(shape.size())};
  for (std::uint32_t extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(extent >> shift));
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

// 0, 1, 2, … modulo 251.
inline Bytes counting(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  return bytes;
}

inline Bytes gzip_bytes(const Bytes& plain) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  Bytes packed(deflateBound(&stream, plain.size()) + 64);
  stream.next_in = const_cast<std::uint8_t*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace tutti::data
