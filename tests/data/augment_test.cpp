// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/augment.h"

#include "tutti/data/prefetch.h"
#include "tutti/data/synthetic.h"

#include "data/scratch.h"

#include <map>
#include <numeric>
#include <set>

namespace tutti::data {
namespace {

using Plane = std::vector<float>;

// 1, 2, 3 … in two channels of 3 × 4.
const Shape shape{2, 3, 4};
Plane ramp() {
  Plane x(24);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

Plane augmented(const Augmentation& what, std::uint64_t key, std::int64_t index) {
  Plane x = ramp();
  augment(what, key, index, shape, DType::f32, x.data());
  return x;
}

// The plain loop: (y, x) of the result comes from (y − down, x − right) of the mirrored sample.
Plane expected(bool mirrored, int down, int right) {
  const Plane from = ramp();
  Plane to(24, 0.0f);
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 4; ++x) {
        const int sy = y - down, sx = x - right;
        if (sy < 0 || sy >= 3 || sx < 0 || sx >= 4) continue;
        to[c * 12 + y * 4 + x] = from[c * 12 + sy * 4 + (mirrored ? 3 - sx : sx)];
      }
  return to;
}

TEST(Augment, FlipIsEven) {
  int mirrored = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Plane x = augmented({.flip = true}, 5, i);
    mirrored += x == expected(true, 0, 0);
    EXPECT_TRUE(x == expected(true, 0, 0) || x == ramp());
  }
  EXPECT_NEAR(mirrored, 500, 64) << "four standard deviations";
}

// Every shift within the padding occurs, about equally often, and each is the plain loop's.
TEST(Augment, CropIsAnyShiftWithinThePadding) {
  std::map<std::pair<int, int>, int> seen;
  for (std::int64_t i = 0; i < 5000; ++i) {
    const Plane x = augmented({.crop = 2}, 5, i);
    for (int down = -2; down <= 2; ++down)
      for (int right = -2; right <= 2; ++right)
        if (x == expected(false, down, right)) ++seen[{down, right}];
  }
  EXPECT_EQ(seen.size(), 25u);
  for (const auto& [shift, times] : seen) EXPECT_NEAR(times, 200, 60);
}

TEST(Augment, FlipThenCrop) {
  std::set<Plane> possible, found;
  for (const bool mirrored : {false, true})
    for (int down = -1; down <= 1; ++down)
      for (int right = -1; right <= 1; ++right) possible.insert(expected(mirrored, down, right));
  for (std::int64_t i = 0; i < 500; ++i) found.insert(augmented({.flip = true, .crop = 1}, 3, i));
  EXPECT_EQ(found, possible);
}

// The square is the same in all channels and lies around any pixel.
TEST(Augment, CutoutHidesASquare) {
  std::set<Plane> found;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const Plane x = augmented({.cutout = 2}, 9, i);
    for (int j = 0; j < 12; ++j) EXPECT_EQ(x[j] == 0, x[12 + j] == 0);
    const auto hidden = std::count(x.begin(), x.begin() + 12, 0.0f);
    EXPECT_TRUE(hidden == 4 || hidden == 2 || hidden == 1) << hidden;
    found.insert(x);
  }
  EXPECT_EQ(found.size(), 12u) << "a square for each pixel";
}

TEST(Augment, IsAFunctionOfSeedEpochAndIndex) {
  const Augmentation all{.flip = true, .crop = 1, .cutout = 1};
  const std::uint64_t key = augmentation_key(1, 2);
  EXPECT_EQ(augmented(all, key, 7), augmented(all, augmentation_key(1, 2), 7));
  const auto differ = [&](std::uint64_t other_key, std::int64_t shifted) {
    int count = 0;
    for (std::int64_t i = 0; i < 100; ++i)
      count += augmented(all, key, i) != augmented(all, other_key, i + shifted);
    return count;
  };
  EXPECT_EQ(differ(key, 0), 0);
  EXPECT_GT(differ(key, 1), 80);
  EXPECT_GT(differ(augmentation_key(1, 3), 0), 80);
  EXPECT_GT(differ(augmentation_key(2, 2), 0), 80);
}

TEST(Augment, DoubleIsTheSame) {
  for (std::int64_t i = 0; i < 20; ++i) {
    const Augmentation all{.flip = true, .crop = 1, .cutout = 1};
    const Plane x = augmented(all, 4, i), from = ramp();
    std::vector<double> wide(from.begin(), from.end());
    augment(all, 4, i, shape, DType::f64, wide.data());
    EXPECT_TRUE(std::equal(x.begin(), x.end(), wide.begin()));
  }
}

TEST(Augment, Errors) {
  Augmentation{}.require_fit({5});
  expect_error([] { Augmentation{.flip = true}.require_fit({5}); }, {"samples are 5", "images"});
  expect_error([] { Augmentation{.crop = 3}.require_fit({1, 3, 9}); }, {"'crop' is 3", "3×9"});
}

// Inputs of all steps of two epochs by sample, read by so many ranks and threads from a step on.
std::map<std::pair<std::int64_t, std::int64_t>, Plane> read_all(int ranks, int threads,
                                                                std::int64_t first_step) {
  const DatasetEntry entry = synthetic();
  const Settings settings = resolve(entry.settings,
                                    {{"shape", std::vector<std::int64_t>{2, 3, 4}},
                                     {"count", std::int64_t{23}},
                                     {"classes", std::int64_t{23}}},
                                    "test");
  const auto data = entry.open(settings, Split::train);
  const Sampler sampler({.count = 23, .batch = 6, .seed = 5});
  std::map<std::pair<std::int64_t, std::int64_t>, Plane> all;
  for (int rank = 0; rank < ranks; ++rank) {
    Prefetch prefetch(*data, sampler,
                      {.share = rank,
                       .shares = ranks,
                       .threads = threads,
                       .augmentation = {.flip = true, .crop = 1, .cutout = 1},
                       .first_step = first_step,
                       .end_step = 8});
    for (std::int64_t step = first_step; step < 8; ++step) {
      const Batch& batch = prefetch.next();
      const auto* x = batch.as<const float>("input");
      for (std::int64_t i = 0; i < batch.count(); ++i)
        all[{step, batch.as<const std::int32_t>("labels")[i]}] =
            Plane(x + 24 * i, x + 24 * (i + 1));
      prefetch.release();
    }
  }
  return all;
}

TEST(Augment, SameOnAnyRanksThreadsAndAfterResume) {
  const auto alone = read_all(1, 1, 0);
  EXPECT_EQ(alone.size(), 46u);
  EXPECT_EQ(read_all(3, 1, 0), alone);
  EXPECT_EQ(read_all(1, 3, 0), alone);
  EXPECT_EQ(read_all(2, 4, 0), alone);
  auto rest = alone;
  std::erase_if(rest, [](const auto& entry) { return entry.first.first < 2; });
  EXPECT_EQ(read_all(1, 2, 2), rest) << "from the middle of the first epoch";
}

}  // namespace
}  // namespace tutti::data
