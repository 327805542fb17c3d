// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/idx.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

Bytes values_of(const IdxFile& file) { return {file.values().begin(), file.values().end()}; }

TEST(Idx, PlainIsMappedAndGzipIsUnpacked) {
  const Scratch scratch;
  const Bytes bytes = idx_bytes({2, 3, 5}, counting(30));
  const IdxFile plain(scratch.write("plain", bytes));
  const IdxFile packed(scratch.write("packed", gzip_bytes(bytes)));
  EXPECT_TRUE(plain.mapped());
  EXPECT_FALSE(packed.mapped());
  for (const IdxFile* file : {&plain, &packed}) {
    EXPECT_EQ(file->shape(), (Shape{2, 3, 5}));
    EXPECT_EQ(values_of(*file), counting(30));
  }
}

TEST(Idx, ShapesOfSamples) {
  const Scratch scratch;
  const auto shape = [&](const std::vector<std::uint32_t>& extents) {
    return idx_sample_shape(open_idx_images(scratch.write("f", idx_bytes(extents, counting(120)))));
  };
  EXPECT_EQ(shape({20, 6}), (Shape{6}));
  EXPECT_EQ(shape({20, 2, 3}), (Shape{1, 2, 3}));
  EXPECT_EQ(shape({5, 4, 2, 3}), (Shape{4, 2, 3}));
}

TEST(Idx, WrongMagic) {
  const Scratch scratch;
  const auto open = [&](const Bytes& bytes) { IdxFile file(scratch.write("f.idx", bytes)); };
  expect_error(
      [&] {
        open({0x89, 'P', 'N', 'G', 0, 0, 0, 1});
      },
      {"f.idx", "not an IDX file", "89 50 4e 47", "expected 00 00 08"});
  expect_error(
      [&] {
        open({0, 0, 0x0d, 1, 0, 0, 0, 1, 0, 0, 0, 0});
      },
      {"f.idx", "0x0d", "expected 0x08"});
  expect_error([&] { open({0, 0, 8, 0}); }, {"f.idx", "0 dimensions"});
}

TEST(Idx, WrongLength) {
  const Scratch scratch;
  const Bytes whole = idx_bytes({2, 3, 5}, counting(30));
  const auto open_first = [&](std::size_t length) {
    IdxFile file(scratch.write("f", {whole.begin(), whole.begin() + length}));
  };
  for (std::size_t length = 0; length < whole.size(); ++length)
    expect_error([&] { open_first(length); }, {"/f"});
  expect_error([&] { open_first(3); }, {"3 bytes, too few"});
  expect_error([&] { open_first(10); }, {"inside its header: 10 bytes, expected 16"});
  expect_error([&] { open_first(20); }, {"4 bytes follow the IDX header, expected 30"});
  expect_error(
      [&] {
        IdxFile(scratch.write("f", idx_bytes({2, 3}, counting(8))));
      },
      {"8 bytes follow", "expected 6 for 2×3", "last 2"});
  expect_error(
      [&] {
        IdxFile(scratch.write("f", idx_bytes({~0u, ~0u, ~0u}, {})));
      },
      {"/f", "damaged"});
}

TEST(Idx, GzipDamageNamesTheFile) {
  const Scratch scratch;
  Bytes packed = gzip_bytes(idx_bytes({2, 3, 5}, counting(30)));
  packed.pop_back();
  expect_error([&] { IdxFile(scratch.write("cut.gz", packed)); }, {"cut.gz", "ends early"});
  packed.push_back(0xff);
  expect_error([&] { IdxFile(scratch.write("bad.gz", packed)); }, {"bad.gz", "corrupt"});
}

TEST(Idx, ImagesAndLabelsMustFit) {
  const Scratch scratch;
  const std::string images = scratch.write("images", idx_bytes({2, 1, 1}, {7, 8}));
  const std::string labels = scratch.write("labels", idx_bytes({3}, {0, 9, 4}));
  EXPECT_EQ(values_of(open_idx_labels(labels, 3, 10, images)), (Bytes{0, 9, 4}));
  expect_error([&] { open_idx_images(labels); }, {"labels", "1 dimension", "file of labels?"});
  expect_error([&] { open_idx_labels(images, 2, 10, images); }, {"images", "3 dimensions"});
  expect_error([&] { open_idx_labels(labels, 2, 10, images); },
               {"labels has 3 labels", "images has 2 images"});
  expect_error([&] { open_idx_labels(labels, 3, 9, images); },
               {"labels", "label 9 at position 1", "expected 0 to 8"});
  expect_error(
      [&] {
        open_idx_images(scratch.write("none", idx_bytes({0, 2, 2}, {})));
      },
      {"none", "no images"});
  expect_error(
      [&] {
        open_idx_images(scratch.write("five", idx_bytes({1, 1, 1, 1, 1}, {3})));
      },
      {"five", "5 dimensions"});
  expect_error([&] { open_idx_images(scratch.folder() / "missing"); }, {"missing", "No such file"});
}

}  // namespace
}  // namespace tutti::data
