// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG bytes for the tests of images.
#pragma once

#include "data/scratch.h"

#include <jpeglib.h>
#include <png.h>

#include <cstdio>

namespace tutti::data {

inline Bytes png_bytes(png_uint_32 width, png_uint_32 height, png_uint_32 format,
                       const Bytes& pixels) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  png_alloc_size_t bytes = 0;
  png_image_write_to_memory(&image, nullptr, &bytes, 0, pixels.data(), 0, nullptr);
  Bytes file(bytes);
  png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr);
  file.resize(bytes);
  return file;
}

// Pixels are interleaved: 1, 3 or 4 (inverted CMYK, as programs write it) components.
inline Bytes jpeg_bytes(unsigned width, unsigned height, int components, const Bytes& pixels) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors = {};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &memory, &bytes);
  info.image_width = width;
  info.image_height = height;
  info.input_components = components;
  info.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < height) {
    auto* row = const_cast<std::uint8_t*>(pixels.data()) +
                std::size_t{info.next_scanline} * width * static_cast<std::size_t>(components);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const Bytes file(memory, memory + bytes);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return file;
}

// height × width pixels, all of these components.
inline Bytes uniform_pixels(int width, int height, const Bytes& components) {
  Bytes pixels;
  for (int i = 0; i < width * height; ++i)
    pixels.insert(pixels.end(), components.begin(), components.end());
  return pixels;
}

}  // namespace tutti::data
