// SPDX-License-Identifier: Apache-2.0
// libjpeg reports an error by calling a function that must not return; ours jumps back. A jump
// skips destructors, so the functions that call setjmp hold no objects that need them.
#include "tutti/data/jpeg.h"

#include "tutti/core/error.h"

#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <cstdio>

namespace tutti::data {
namespace {

struct Failure {
  jpeg_error_mgr manager = {};  // first: libjpeg holds a pointer to it
  std::jmp_buf back = {};
  std::array<char, JMSG_LENGTH_MAX> text = {};
};

Failure& failure_of(j_common_ptr info) { return *reinterpret_cast<Failure*>(info->err); }

[[noreturn]] void jump_back(j_common_ptr info) {
  Failure& failure = failure_of(info);
  failure.manager.format_message(info, failure.text.data());
  std::longjmp(failure.back, 1);
}

// libjpeg goes on after damage with gray pixels and a warning; we do not.
void judge_warning(j_common_ptr info, int level) {
  const int code = info->err->msg_code;
  const bool harmless =
      code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR;
  if (level < 0 && !harmless) jump_back(info);
}

struct Decoder {
  jpeg_decompress_struct info = {};
  Failure failure;

  Decoder() {
    info.err = jpeg_std_error(&failure.manager);
    failure.manager.error_exit = jump_back;
    failure.manager.emit_message = judge_warning;
    jpeg_create_decompress(&info);
  }
  ~Decoder() { jpeg_destroy_decompress(&info); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
};

// The largest denominator that leaves at least these extents.
unsigned denominator_for(const jpeg_decompress_struct& info, std::int64_t height,
                         std::int64_t width) {
  for (const unsigned by : {8u, 4u, 2u})
    if (height > 0 && info.image_height / by >= height && info.image_width / by >= width) return by;
  return 1;
}

// Reads the header and begins to decode; false when that failed.
bool begin(Decoder& decoder, std::span<const std::uint8_t> bytes, std::int64_t channels,
           std::int64_t height, std::int64_t width) {
  jpeg_decompress_struct& info = decoder.info;
  if (setjmp(decoder.failure.back) != 0) return false;
  jpeg_mem_src(&info, bytes.data(), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = info.num_components == 4 ? JCS_CMYK
                         : channels == 1          ? JCS_GRAYSCALE
                                                  : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = denominator_for(info, height, width);
  jpeg_start_decompress(&info);
  return true;
}

// Decodes all rows, with interleaved channels; false when that failed.
bool read_rows(Decoder& decoder, std::uint8_t* rows) {
  jpeg_decompress_struct& info = decoder.info;
  if (setjmp(decoder.failure.back) != 0) return false;
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = rows + std::size_t{info.output_scanline} * info.output_width *
                              static_cast<std::size_t>(info.output_components);
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

// Channel c of a pixel as it was decoded: gray, RGB, or CMYK, which is stored inverted.
std::uint8_t channel_of(const std::uint8_t* pixel, int components, std::int64_t channels,
                        std::int64_t c) {
  if (components != 4) return pixel[c];
  const auto colour = [&](std::int64_t of) { return pixel[of] * pixel[3] / 255; };
  const int value =
      channels == 3 ? colour(c) : (299 * colour(0) + 587 * colour(1) + 114 * colour(2)) / 1000;
  return static_cast<std::uint8_t>(value);
}

}  // namespace

Image decode_jpeg(std::span<const std::uint8_t> bytes, const std::string& file,
                  std::int64_t channels, std::int64_t least_height, std::int64_t least_width) {
  Decoder decoder;
  const jpeg_decompress_struct& info = decoder.info;
  const auto require = [&](bool succeeded) {
    if (!succeeded)
      throw Error("{}: the JPEG file is damaged ({}), expected a whole JPEG image", file,
                  decoder.failure.text.data());
  };
  require(begin(decoder, bytes, channels, least_height, least_width));
  const int components = info.output_components;
  Image image{channels, info.output_height, info.output_width};
  const std::int64_t plane = image.height * image.width;
  std::vector<std::uint8_t> interleaved(static_cast<std::size_t>(plane * components));
  require(read_rows(decoder, interleaved.data()));
  image.pixels.resize(static_cast<std::size_t>(channels * plane));
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t i = 0; i < plane; ++i)
      image.pixels[c * plane + i] =
          channel_of(interleaved.data() + i * components, components, channels, c);
  return image;
}

}  // namespace tutti::data
