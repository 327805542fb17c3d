// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/png.h"

#include "tutti/data/mapped_file.h"

#include "data/image_files.h"

namespace tutti::data {
namespace {

Image read_png(const std::string& path, std::int64_t channels) {
  const MappedFile file(path);
  return decode_png(file.bytes(), path, channels);
}

TEST(Png, GrayBecomesOnePlane) {
  const Scratch scratch;
  const Image image = read_png(
      scratch.write("g.png", png_bytes(3, 2, PNG_FORMAT_GRAY, {0, 51, 102, 153, 204, 255})), 1);
  EXPECT_EQ(image.channels, 1);
  EXPECT_EQ(image.height, 2);
  EXPECT_EQ(image.width, 3);
  EXPECT_EQ(image.pixels, (Bytes{0, 51, 102, 153, 204, 255}));
}

TEST(Png, ColoursBecomePlanes) {
  const Scratch scratch;
  const std::string file =
      scratch.write("c.png", png_bytes(2, 1, PNG_FORMAT_RGB, {255, 0, 51, 0, 102, 204}));
  EXPECT_EQ(read_png(file, 3).pixels, (Bytes{255, 0, 0, 102, 51, 204}));
}

TEST(Png, ConvertsBetweenGrayAndColour) {
  const Scratch scratch;
  const std::string gray = scratch.write("g.png", png_bytes(1, 1, PNG_FORMAT_GRAY, {102}));
  EXPECT_EQ(read_png(gray, 3).pixels, (Bytes{102, 102, 102}));
  const std::string white =
      scratch.write("w.png", png_bytes(1, 1, PNG_FORMAT_RGB, {255, 255, 255}));
  EXPECT_EQ(read_png(white, 1).pixels, (Bytes{255}));
}

TEST(Png, TransparentIsBlack) {
  const Scratch scratch;
  const std::string file =
      scratch.write("a.png", png_bytes(2, 1, PNG_FORMAT_GA, {255, 0, 255, 255}));
  EXPECT_EQ(read_png(file, 1).pixels, (Bytes{0, 255}));
}

TEST(Png, Errors) {
  const Scratch scratch;
  Bytes whole = png_bytes(9, 9, PNG_FORMAT_GRAY, counting(81));
  const Bytes cut(whole.begin(), whole.begin() + 60);
  expect_error([&] { read_png(scratch.write("cut.png", cut), 1); }, {"cut.png", "damaged"});
  const Bytes header(whole.begin(), whole.begin() + 12);
  expect_error([&] { read_png(scratch.write("head.png", header), 1); }, {"head.png", "damaged"});
  Bytes flipped = whole;
  flipped[60] ^= 0x40;
  expect_error([&] { read_png(scratch.write("flip.png", flipped), 1); }, {"flip.png", "damaged"});
}

// A header may announce more than there is: it is refused before memory is taken.
TEST(Png, HugeImagesAreRefused) {
  const Scratch scratch;
  Bytes bytes = png_bytes(9, 9, PNG_FORMAT_GRAY, counting(81));
  bytes[17] = bytes[21] = 0x0f;  // width and height in the chunk at byte 16: 983,049 pixels each
  const std::uint32_t checksum = static_cast<std::uint32_t>(crc32(0, &bytes[12], 17));
  for (int i = 0; i < 4; ++i) bytes[29 + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
  expect_error([&] { read_png(scratch.write("huge.png", bytes), 1); },
               {"huge.png", "983049×983049", "at most"});
}

}  // namespace
}  // namespace tutti::data
