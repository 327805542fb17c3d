// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/gzip.h"

#include "tutti/core/error.h"

#include <zlib.h>

#include <algorithm>

namespace tutti::data {
namespace {

struct Inflater {
  z_stream stream = {};

  Inflater() {
    constexpr int gzip_only = 16;
    check(inflateInit2(&stream, MAX_WBITS + gzip_only) == Z_OK, "zlib starts");
  }
  ~Inflater() { inflateEnd(&stream); }
};

}  // namespace

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> packed, std::string_view file) {
  constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  Inflater inflater;
  z_stream& stream = inflater.stream;
  std::vector<std::uint8_t> bytes, chunk(chunk_bytes);
  std::size_t taken = 0;  // zlib counts in 32 bits: larger input is given in parts
  while (true) {
    if (stream.avail_in == 0) {
      stream.next_in = const_cast<std::uint8_t*>(packed.data() + taken);
      stream.avail_in = static_cast<uInt>(std::min(packed.size() - taken, std::size_t{1} << 30));
      taken += stream.avail_in;
    }
    stream.next_out = chunk.data();
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    bytes.insert(bytes.end(), chunk.data(), stream.next_out);
    const std::size_t left = packed.size() - taken + stream.avail_in;
    if (code == Z_STREAM_END) {
      if (left == 0) return bytes;
      if (!is_gzip(packed.last(left)))
        throw Error(
            "{}: {} bytes follow the end of the gzip data, expected none; fetch the file "
            "again",
            file, left);
      inflateReset(&stream);  // several gzip'd parts in a row are one file
    } else if (code == Z_BUF_ERROR || (code == Z_OK && left == 0 && stream.avail_out > 0)) {
      throw Error(
          "{}: the gzip data ends early, after {} bytes ({} unpacked); fetch the file again", file,
          packed.size(), bytes.size());
    } else if (code != Z_OK) {
      throw Error("{}: the gzip data is corrupt ({}); fetch the file again", file,
                  stream.msg != nullptr ? stream.msg : "zlib gives no reason");
    }
  }
}

}  // namespace tutti::data
