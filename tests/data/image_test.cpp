// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/image.h"

#include "tutti/data/jpeg.h"

#include "data/image_files.h"

namespace tutti::data {
namespace {

void expect_near(const Image& image, const std::vector<int>& channels, int tolerance) {
  const std::int64_t plane = image.height * image.width;
  ASSERT_EQ(image.channels, static_cast<std::int64_t>(channels.size()));
  for (std::int64_t i = 0; i < image.channels * plane; ++i)
    ASSERT_NEAR(image.pixels[i], channels[i / plane], tolerance) << i;
}

// One colour survives compression up to the rounding of its conversion.
TEST(Jpeg, ColourGrayAndCmyk) {
  const Bytes colour = jpeg_bytes(20, 10, 3, uniform_pixels(20, 10, {200, 100, 50}));
  const Image image = decode_jpeg(colour, "c.jpg", 3);
  EXPECT_EQ(image.height, 10);
  EXPECT_EQ(image.width, 20);
  expect_near(image, {200, 100, 50}, 2);
  expect_near(decode_jpeg(colour, "c.jpg", 1), {(299 * 200 + 587 * 100 + 114 * 50) / 1000}, 2);
  const Bytes gray = jpeg_bytes(3, 3, 1, uniform_pixels(3, 3, {77}));
  expect_near(decode_jpeg(gray, "g.jpg", 3), {77, 77, 77}, 1);
  const Bytes print = jpeg_bytes(8, 8, 4, uniform_pixels(8, 8, {200, 100, 50, 255}));
  expect_near(decode_jpeg(print, "k.jpg", 3), {200, 100, 50}, 2);
  expect_near(decode_jpeg(print, "k.jpg", 1), {124}, 2);
}

TEST(Jpeg, LargeImagesAreDecodedSmaller) {
  const Bytes file = jpeg_bytes(160, 80, 3, uniform_pixels(160, 80, {10, 20, 30}));
  EXPECT_EQ(decode_jpeg(file, "l.jpg", 3, 20, 20).height, 20) << "a quarter";
  EXPECT_EQ(decode_jpeg(file, "l.jpg", 3, 21, 20).height, 40) << "a half";
  EXPECT_EQ(decode_jpeg(file, "l.jpg", 3, 41, 20).height, 80);
  EXPECT_EQ(decode_jpeg(file, "l.jpg", 3).height, 80);
}

TEST(Jpeg, DamageIsAnError) {
  const Bytes whole = jpeg_bytes(40, 40, 3, counting(4800));
  for (const std::size_t kept :
       {std::size_t{3}, std::size_t{30}, whole.size() / 2, whole.size() - 40})
    expect_error(
        [&] {
          decode_jpeg({whole.data(), kept}, "cut.jpg", 3);
        },
        {"cut.jpg", "damaged", "expected a whole JPEG"});
}

TEST(Image, ReadsByContentNotByName) {
  const Scratch scratch;
  const std::string png =
      scratch.write("a.jpg", png_bytes(4, 4, PNG_FORMAT_RGB, uniform_pixels(4, 4, {9, 8, 7})));
  expect_near(read_image(png, 3, 2, 2, Fit::crop), {9, 8, 7}, 0);
  const std::string jpeg = scratch.write("b.png", jpeg_bytes(4, 4, 1, uniform_pixels(4, 4, {90})));
  expect_near(read_image(jpeg, 1, 6, 6, Fit::stretch), {90}, 1);
  const std::string text = scratch.write("c.png", {'G', 'I', 'F', '8'});
  expect_error([&] { read_image(text, 3, 2, 2, Fit::crop); },
               {"c.png", "neither a PNG nor a JPEG"});
  expect_error([&] { read_image(scratch.folder() / "none.png", 3, 2, 2, Fit::crop); },
               {"none.png", "No such file"});
}

// A row of 8 pixels, black | white: the centre keeps both halves, stretched or cropped.
TEST(Image, CropKeepsProportionsStretchDoesNot) {
  Image image{1, 2, 8, Bytes(16, 0)};
  for (int y = 0; y < 2; ++y)
    for (int x = 4; x < 8; ++x) image.pixels[y * 8 + x] = 200;
  const Image cropped = fitted(image, 2, 2, Fit::crop);
  EXPECT_EQ(cropped.pixels, (Bytes{0, 200, 0, 200}));
  const Image stretched = fitted(image, 2, 4, Fit::stretch);
  EXPECT_EQ(stretched.pixels[0], 0);
  EXPECT_EQ(stretched.pixels[3], 200);
  const Image larger = fitted(image, 4, 4, Fit::crop);  // scaled to 4×16 first
  EXPECT_EQ(larger.height, 4);
  EXPECT_EQ(larger.width, 4);
  EXPECT_EQ(larger.pixels[0], 0);
  EXPECT_EQ(larger.pixels[3], 200);
}

}  // namespace
}  // namespace tutti::data
