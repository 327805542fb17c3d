// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/gzip.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

TEST(Gzip, UnpacksWhatWasPacked) {
  for (std::size_t count : {0, 1, 1000, 1 << 20, (1 << 20) + 1, 3 << 20}) {
    const Bytes plain = counting(count), packed = gzip_bytes(plain);
    EXPECT_TRUE(is_gzip(packed));
    EXPECT_EQ(gunzip(packed, "f"), plain);
  }
  EXPECT_FALSE(is_gzip(Bytes{0x1f}));
  EXPECT_FALSE(is_gzip(Bytes{0, 0, 8, 3}));
}

TEST(Gzip, PartsInARowAreOneFile) {
  Bytes packed = gzip_bytes({1, 2});
  const Bytes second = gzip_bytes({3});
  packed.insert(packed.end(), second.begin(), second.end());
  EXPECT_EQ(gunzip(packed, "f"), (Bytes{1, 2, 3}));
}

TEST(Gzip, EveryTruncationIsRefused) {
  const Bytes packed = gzip_bytes(counting(500));
  for (std::size_t length = 2; length < packed.size(); ++length)
    expect_error([&] { gunzip(std::span(packed).first(length), "a.gz"); }, {"a.gz", "ends early"});
}

TEST(Gzip, DamageIsRefused) {
  Bytes checksum = gzip_bytes(counting(5000));
  checksum[checksum.size() - 6] ^= 1;
  expect_error([&] { gunzip(checksum, "a.gz"); }, {"a.gz", "corrupt"});
  Bytes followed = gzip_bytes(counting(5000));
  followed.insert(followed.end(), {1, 2, 3});
  expect_error([&] { gunzip(followed, "a.gz"); }, {"a.gz", "3 bytes follow"});
}

}  // namespace
}  // namespace tutti::data
