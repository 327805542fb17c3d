// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/prefetch.h"

#include "tutti/data/synthetic.h"

#include "data/allocations.h"
#include "data/scratch.h"
#include "data/share_of_step.h"

#include <atomic>

namespace tutti::data {
namespace {

// Sample i is (i, i + 0.5) with label i, or target −i; reading `broken` throws.
class Counting : public Dataset {
 public:
  explicit Counting(std::int64_t samples, bool regression = false) {
    name = "counting";
    count = samples;
    classes = regression ? 0 : samples;
    fields = regression ? input_and_targets({2}, {1}) : input_and_labels({2});
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    dispatch_float(into.dtype, [&](auto zero) {
      using T = decltype(zero);
      auto* x = static_cast<T*>(into.fields[0]);
      void* const answers = into.fields[1];
      for (std::size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] == broken) throw Error("sample {} is broken", broken);
        x[2 * i] = static_cast<T>(indices[i]);
        x[2 * i + 1] = static_cast<T>(indices[i]) + T{0.5};
        if (classes > 0)
          static_cast<std::int32_t*>(answers)[i] = static_cast<std::int32_t>(indices[i]);
        else
          static_cast<T*>(answers)[i] = static_cast<T>(-indices[i]);
      }
    });
    ++reads;
  }

  std::int64_t broken = -1;
  mutable std::atomic<int> reads = 0;
};

std::vector<std::int64_t> labels_of(const Batch& batch) {
  const auto* labels = batch.as<const std::int32_t>("labels");
  return {labels, labels + batch.count()};
}

TEST(Prefetch, BatchesAreTheSamplersInOrder) {
  const Counting data(23);
  const Sampler sampler({.count = 23, .batch = 5, .seed = 4});
  for (const auto& [depth, threads] : {std::pair{1, 1}, {1, 3}, {2, 1}, {3, 2}, {8, 7}})
    for (int ranks : {1, 2, 3})
      for (int rank = 0; rank < ranks; ++rank) {
        Prefetch prefetch(
            data, sampler,
            {.share = rank, .shares = ranks, .depth = depth, .threads = threads, .first_step = 2});
        EXPECT_EQ(prefetch.capacity(), (5 + ranks - 1) / ranks);
        for (std::int64_t step = 2; step < 14; ++step) {
          const Batch& batch = prefetch.next();
          EXPECT_EQ(batch.step, step);
          EXPECT_EQ(batch.total, sampler.batch(step));
          EXPECT_EQ(labels_of(batch), share_of_step(sampler, step, rank, ranks));
          const auto* x = batch.as<const float>("input");
          for (std::int64_t i = 0; i < batch.count(); ++i)
            EXPECT_EQ(x[2 * i + 1], batch.as<const std::int32_t>("labels")[i] + 0.5f);
          prefetch.release();
        }
      }
}

// A09: the passes of a batch follow each other; each is shared by all ranks.
TEST(Prefetch, HandsOutBatchesInPasses) {
  const Counting data(23);
  const Sampler sampler({.count = 23, .batch = 8, .seed = 4});
  for (const int ranks : {1, 2}) {
    std::vector<std::vector<std::int64_t>> seen(6);
    for (int rank = 0; rank < ranks; ++rank) {
      Prefetch prefetch(
          data, sampler,
          {.share = rank, .shares = ranks, .micro_batches = 3, .first_step = 1, .end_step = 7});
      EXPECT_EQ(prefetch.capacity(), (3 + ranks - 1) / ranks);
      for (std::int64_t step = 1; step < 7; ++step)
        for (int pass = 0; pass < 3; ++pass) {
          const Batch& batch = prefetch.next();
          EXPECT_EQ(batch.step, step);
          EXPECT_EQ(batch.micro_batch, pass);
          EXPECT_EQ(batch.total, sampler.batch(step));
          EXPECT_EQ(batch.micro_batch_total, share_of(batch.total, pass, 3).count());
          EXPECT_EQ(batch.as<const float>("weights")[0], 1);
          const std::vector<std::int64_t> whole = sampler.indices(step), own = labels_of(batch);
          ASSERT_FALSE(own.empty());
          EXPECT_TRUE(std::equal(own.begin(), own.end(), whole.begin() + batch.share.first));
          auto& all = seen[static_cast<std::size_t>(step) - 1];
          all.insert(all.end(), own.begin(), own.end());
          prefetch.release();
        }
    }
    for (std::int64_t step = 1; step < 7; ++step) {
      std::vector<std::int64_t> whole = sampler.indices(step);
      auto& all = seen[static_cast<std::size_t>(step) - 1];
      std::sort(whole.begin(), whole.end());
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, whole) << "every sample once";
    }
  }
}

TEST(Prefetch, RowsPastTheEndAreZero) {
  const Counting data(7);
  const Sampler sampler({.count = 7, .batch = 4, .order = Order::sequential});
  Prefetch prefetch(data, sampler, {.dtype = DType::f64, .depth = 1});
  for (int round = 0; round < 3; ++round) {
    const auto* full = prefetch.next().as<const double>("weights");
    EXPECT_EQ(std::vector<double>(full, full + 4), (std::vector<double>(4, 1)));
    prefetch.release();
    const Batch& batch = prefetch.next();
    EXPECT_EQ(batch.count(), 3);
    const auto* weights = batch.as<const double>("weights");
    EXPECT_EQ(std::vector<double>(weights, weights + 4), (std::vector<double>{1, 1, 1, 0}));
    const auto* x = batch.as<const double>("input");
    EXPECT_EQ(std::vector<double>(x, x + 8), (std::vector<double>{4, 4.5, 5, 5.5, 6, 6.5, 0, 0}));
    EXPECT_EQ(batch.as<const std::int32_t>("labels")[3], 0);
    prefetch.release();
  }
}

TEST(Prefetch, SamplesWeighWhatTheReaderSays) {
  const Counting data(7);
  const Sampler sampler({.count = 7, .batch = 5});
  for (std::int64_t step = 0; step < 2; ++step) {
    double sum = 0;
    for (int rank = 0; rank < 2; ++rank) {
      Prefetch prefetch(data, sampler,
                        {.dtype = DType::f64,
                         .share = rank,
                         .shares = 2,
                         .weight = [](std::int64_t, std::int64_t all) { return 1.0 / all; },
                         .first_step = step});
      const auto* weights = prefetch.next().as<const double>("weights");
      for (std::int64_t i = 0; i < prefetch.capacity(); ++i) sum += weights[i];
    }
    EXPECT_NEAR(sum, 1, 1e-15);
  }
}

TEST(Prefetch, RegressionHasTargets) {
  const Counting data(6, true);
  Prefetch prefetch(data, Sampler({.count = 6, .batch = 3, .order = Order::sequential}), {});
  const Batch& batch = prefetch.next();
  EXPECT_FALSE(has_field(batch.fields, "labels"));
  const auto* targets = batch.as<const float>("targets");
  EXPECT_EQ(std::vector<float>(targets, targets + 3), (std::vector<float>{0, -1, -2}));
}

// Sample i is i in each field.
class ThreeFields : public Dataset {
 public:
  ThreeFields() {
    count = 5;
    classes = 5;
    fields = {{.name = "mask", .dtype = DType::u8, .shape = {3}},
              {.name = "input", .shape = {2}},
              {.name = "labels", .dtype = DType::i32}};
  }
  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    auto* mask = static_cast<std::uint8_t*>(into.fields[0]);
    auto* x = static_cast<double*>(into.fields[1]);
    auto* labels = static_cast<std::int32_t*>(into.fields[2]);
    for (const std::int64_t i : indices) {
      mask = std::fill_n(mask, 3, static_cast<std::uint8_t>(i));
      x = std::fill_n(x, 2, static_cast<double>(i));
      *labels++ = static_cast<std::int32_t>(i);
    }
  }
};

TEST(Prefetch, HandsOutAllFieldsInOrder) {
  const ThreeFields data;
  Prefetch prefetch(data, Sampler({.count = 5, .batch = 3, .order = Order::sequential}),
                    {.dtype = DType::f64, .depth = 1, .threads = 2});
  prefetch.next();
  prefetch.release();
  const Batch& batch = prefetch.next();
  EXPECT_EQ(batch.fields, batch_fields(data.fields, DType::f64));
  ASSERT_EQ(batch.pointers.size(), 4u);
  EXPECT_EQ(batch.pointers[3], batch.as<double>("weights"));
  const auto* mask = batch.as<std::uint8_t>("mask");
  EXPECT_EQ(Bytes(mask, mask + 9), (Bytes{3, 3, 3, 4, 4, 4, 0, 0, 0}));
  const auto* x = batch.as<double>("input");
  EXPECT_EQ(std::vector<double>(x, x + 6), (std::vector<double>{3, 3, 4, 4, 0, 0}));
  const auto* labels = batch.as<std::int32_t>("labels");
  EXPECT_EQ(std::vector<int>(labels, labels + 3), (std::vector<int>{3, 4, 0}));
}

TEST(Prefetch, HeldBatchesStayUntouched) {
  const Counting data(100);
  Prefetch prefetch(data, Sampler({.count = 100, .batch = 2, .order = Order::sequential}), {});
  const Batch& first = prefetch.next();
  const Batch& second = prefetch.next();
  const Batch& third = prefetch.next();
  EXPECT_EQ(labels_of(first), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(labels_of(second), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(labels_of(third), (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(data.reads, 3) << "a held slot isn't read over";
  EXPECT_THROW(prefetch.next(), std::logic_error) << "all slots are held";
  for (int i = 0; i < 3; ++i) prefetch.release();
  EXPECT_THROW(prefetch.release(), std::logic_error) << "nothing is held";
  EXPECT_EQ(labels_of(prefetch.next()), (std::vector<std::int64_t>{6, 7}));
}

TEST(Prefetch, EndsAfterTheLastStep) {
  const Counting data(10);
  Prefetch prefetch(data, Sampler({.count = 10, .batch = 5}), {.depth = 4, .end_step = 2});
  for (int i = 0; i < 2; ++i) {
    prefetch.next();
    prefetch.release();
  }
  EXPECT_THROW(prefetch.next(), std::logic_error);
  EXPECT_EQ(data.reads, 2);
}

TEST(Prefetch, FailureComesOutAfterTheBatchesBeforeIt) {
  Counting data(20);
  data.broken = 9;
  Prefetch prefetch(data, Sampler({.count = 20, .batch = 4, .order = Order::sequential}), {});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(prefetch.next().step, i);
    prefetch.release();
  }
  expect_error([&] { prefetch.next(); }, {"sample 9 is broken"});
  expect_error([&] { prefetch.next(); }, {"sample 9 is broken"});
}

TEST(Prefetch, FailureOfAnyThreadComesOut) {
  for (std::int64_t broken = 8; broken < 12; ++broken) {
    Counting data(20);
    data.broken = broken;
    Prefetch prefetch(data, Sampler({.count = 20, .batch = 4, .order = Order::sequential}),
                      {.threads = 3});
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(prefetch.next().step, i);
      prefetch.release();
    }
    expect_error([&] { prefetch.next(); }, {"is broken"});
  }
}

TEST(Prefetch, StopsCleanlyAtAnyMoment) {
  const Counting data(1000);
  const Sampler sampler({.count = 1000, .batch = 10});
  for (int taken = 0; taken < 50; ++taken) {
    Prefetch prefetch(data, sampler, {.depth = 2, .threads = 1 + taken % 3});
    for (int i = 0; i < taken % 5; ++i) {
      prefetch.next();
      prefetch.release();
    }
  }
}

TEST(Prefetch, AllocatesNothingInTheSteadyState) {
  const auto data = synthetic().open(
      resolve(synthetic().settings, {{"shape", std::vector<std::int64_t>{3, 8, 8}}}, "test"),
      Split::train);
  Prefetch prefetch(*data, Sampler({.count = data->count, .batch = 64, .seed = 2}),
                    {.threads = 2, .augmentation = {.flip = true, .crop = 2, .cutout = 3}});
  const auto step = [&] {
    prefetch.next();
    prefetch.release();
  };
  for (int i = 0; i < 20; ++i) step();
  const long before = allocations();
  for (int i = 0; i < 200; ++i) step();
  EXPECT_EQ(allocations() - before, 0);
}

TEST(Prefetch, DepthMustBePositive) {
  const Counting data(10);
  const Sampler sampler({.count = 10});
  expect_error([&] { Prefetch(data, sampler, {.depth = 0}); }, {"depth", "0", "at least 1"});
}

}  // namespace
}  // namespace tutti::data
