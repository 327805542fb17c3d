// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/buckets.h"

#include "tutti/data/prefetch.h"
#include "tutti/data/synthetic_tokens.h"

#include "data/share_of_step.h"
#include "expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tutti::data {
namespace {

std::unique_ptr<Dataset> open_tokens(const Settings& settings, Split split = Split::train) {
  const DatasetEntry entry = synthetic_tokens();
  return entry.open(resolve(entry.settings, settings, "[data]"), split);
}

const Settings per_token{{"answers", "token"}, {"count", 40}, {"longest", 11}};

Settings with_buckets(const std::vector<std::int64_t>& buckets) {
  Settings settings = per_token;
  settings.set("buckets", buckets);
  return settings;
}

TEST(Buckets, ArePowersOfTwoUnlessGiven) {
  EXPECT_EQ(open_tokens(per_token)->buckets, (std::vector<std::int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ(open_tokens(with_buckets({12, 5, 12}))->buckets, (std::vector<std::int64_t>{5, 12}));
  EXPECT_EQ(token_capacity(open_tokens(with_buckets({12, 5}))->fields), 12);
  expect_error(
      [] {
        open_tokens(with_buckets({4, 10}));
      },
      {"'buckets' is [4, 10]", "longest sample has 11 tokens"});
}

// The bucket of a batch, its weights and what it holds, on every rank of 1 to 3.
TEST(Buckets, OfABatchHoldsItsLongestSampleWhateverTheRanks) {
  const auto data = open_tokens(with_buckets({4, 8, 11}));
  const Sampler sampler({.count = 40, .batch = 6, .seed = 4});
  std::set<std::int64_t> seen;
  for (int ranks : {1, 2, 3})
    for (int rank = 0; rank < ranks; ++rank) {
      Prefetch prefetch(*data, sampler,
                        {.dtype = DType::f64,
                         .share = rank,
                         .shares = ranks,
                         .weight = [](std::int64_t, std::int64_t all) {
                           return 1.0 / static_cast<double>(all);
                         }});
      for (std::int64_t step = 0; step < 14; ++step) {
        const Batch& batch = prefetch.next();
        std::int64_t longest = 0, tokens = 0;
        for (const std::int64_t index : sampler.indices(step)) {
          longest = std::max(longest, data->tokens(index));
          tokens += data->tokens(index);
        }
        EXPECT_EQ(batch.bucket, longest <= 4 ? 4 : longest <= 8 ? 8 : 11);
        EXPECT_EQ(token_capacity(batch.fields), batch.bucket);
        EXPECT_EQ(batch.units, tokens);
        seen.insert(batch.bucket);
        const std::vector<std::int64_t> own = share_of_step(sampler, step, rank, ranks);
        for (std::size_t i = 0; i < own.size(); ++i) {
          EXPECT_EQ(batch.as<std::int32_t>("lengths")[i], data->tokens(own[i]));
          for (std::int64_t t = 0; t < batch.bucket; ++t) {
            const std::int64_t at = static_cast<std::int64_t>(i) * batch.bucket + t;
            const bool there = t < data->tokens(own[i]);
            EXPECT_EQ(batch.as<double>("weights")[at],
                      there ? 1 / static_cast<double>(tokens) : 0.0);
            if (!there) {
              EXPECT_EQ(batch.as<std::int32_t>("input")[at], 0) << "padding is zero";
            }
          }
        }
        prefetch.release();
      }
    }
  EXPECT_EQ(seen, (std::set<std::int64_t>{8, 11})) << "batches of both kinds were seen";
}

// What a sample holds does not depend on the room around it.
TEST(Buckets, SamplesAreTheSameInEveryBucket) {
  const auto data = open_tokens(per_token);
  const std::vector<std::int64_t> indices{3, 0, 17};
  for (const std::int64_t room : {11, 16}) {
    std::vector<std::int32_t> input(3 * room, -1), labels(3 * room, -1), lengths(3);
    std::vector<float> features(6);
    data->read(indices, {.fields = {input.data(), labels.data(), lengths.data(), features.data()},
                         .tokens = room});
    for (std::size_t i = 0; i < 3; ++i) {
      std::vector<std::int32_t> one(16), own_labels(16), length(1);
      data->read({&indices[i], 1},
                 {.fields = {one.data(), own_labels.data(), length.data(), nullptr}, .tokens = 16});
      ASSERT_EQ(lengths[i], length[0]);
      for (std::int64_t t = 0; t < room; ++t) {
        EXPECT_EQ(input[i * room + t], one[t]);
        EXPECT_EQ(labels[i * room + t], own_labels[t]);
        const int shift = features[2 * i] > 0 ? 1 : 0;
        if (t < lengths[i]) {
          EXPECT_EQ(own_labels[t], (one[t] + shift) % 3);
        }
      }
    }
  }
}

TEST(SyntheticTokens, RefusesWhatHasNoMeaning) {
  expect_error([] { open_tokens({{"shortest", 9}, {"longest", 8}}); }, {"'shortest' is 9"});
  expect_error([] { open_tokens({{"vocabulary", 2}}); }, {"3 classes", "at most the 2 tokens"});
}

}  // namespace
}  // namespace tutti::data
