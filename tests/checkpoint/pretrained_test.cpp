// SPDX-License-Identifier: Apache-2.0
// train.from and model.freeze (A05): weights of another run or tool to begin from, and parameters
// that stay as they are.
#include "tutti/checkpoint/pretrained.h"

#include "tutti/core/bf16.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/replica_options.h"

#include "expect_error.h"
#include "train/small_job.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace tutti {
namespace {

std::string tensor_bytes(const SafetensorsFile& file, const std::string& name) {
  const Tensor* tensor = file.find(name);
  EXPECT_NE(tensor, nullptr) << name;
  if (tensor == nullptr) return "";
  return {static_cast<const char*>(tensor->data), static_cast<std::size_t>(tensor->bytes())};
}

SafetensorsFile weights_in(const TemporaryFolder& folder) {
  return read_safetensors(folder.file("small.safetensors"));
}

class Pretrained : public testing::Test {
 protected:
  void SetUp() override { train(small_job(folder, {"train.steps=10"}), {}); }

  std::string from() const { return "train.from=\"" + folder.file("small") + "\""; }

  TemporaryFolder folder;  // of the run whose weights others begin from
};

// A rate of 0 leaves the weights as they began.
TEST_F(Pretrained, WhatMatchesIsLoadedBitForBitAndTheRestInitialisedA05) {
  const TemporaryFolder begun, initialised;
  const std::vector<std::string> other = {"data.classes=4", "train.steps=1", "optimizer.rate=0"};
  train(small_job(initialised, other), {});
  std::vector<std::string> changes = other;
  changes.push_back(from());
  std::string printed;
  train(small_job(begun, changes), {.print = [&](const std::string& line) { printed += line; }});
  const SafetensorsFile source = weights_in(folder), plain = weights_in(initialised),
                        result = weights_in(begun);
  for (const char* name : {"fc1.weight", "fc1.bias"}) {
    EXPECT_EQ(tensor_bytes(result, name), tensor_bytes(source, name)) << name;
    EXPECT_NE(tensor_bytes(result, name), tensor_bytes(plain, name)) << name;
  }
  for (const char* name : {"fc2.weight", "fc2.bias"})
    EXPECT_EQ(tensor_bytes(result, name), tensor_bytes(plain, name)) << name;
  const std::string record = read_bytes(begun.file("small.jsonl"));
  for (const std::string part :
       {"small.safetensors: 2 of 4 tensors loaded",
        "2 of another shape or type, initialised instead: fc2.weight (f64 3×8 there, 4×8 here), "
        "fc2.bias (f64 3 there, 4 here)"}) {
    EXPECT_NE(printed.find(part), std::string::npos) << printed;
    EXPECT_NE(record.find(part), std::string::npos) << record;
  }
}

TEST_F(Pretrained, RanksBeginAlikeHoweverTheyShareThemA05) {
  std::string expected;
  for (const char* ranks : {"partition.data=1", "partition.data=3"})
    for (const char* shard :
         {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"}) {
      const TemporaryFolder begun;
      train(small_job(begun, {from(), "model.hidden=[8]", "train.steps=1", "optimizer.rate=0",
                              "train.seed=9", ranks, shard}),
            {});
      const SafetensorsFile source = weights_in(folder), result = weights_in(begun);
      for (const NamedTensor& entry : source.tensors)
        EXPECT_EQ(tensor_bytes(result, entry.name), tensor_bytes(source, entry.name))
            << ranks << " " << shard;
    }
}

// Weight decay and momentum, too, leave frozen parameters alone.
TEST_F(Pretrained, FrozenParametersKeepTheirBitsA05) {
  const SafetensorsFile source = weights_in(folder);
  for (const char* rule : {"optimizer.rule=momentum", "optimizer.rule=adamw"})
    for (const char* ranks : {"partition.data=1", "partition.data=2", "partition.data=3"}) {
      std::string with_first_shard;
      for (const char* shard :
           {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"}) {
        const TemporaryFolder begun;
        train(small_job(begun, {from(), "model.freeze=\"fc1.* fc2.bia?\"", "train.steps=6",
                                "optimizer.weight_decay=0.1", rule, ranks, shard}),
              {});
        const SafetensorsFile result = weights_in(begun);
        for (const char* name : {"fc1.weight", "fc1.bias", "fc2.bias"})
          EXPECT_EQ(tensor_bytes(result, name), tensor_bytes(source, name)) << ranks << shard;
        EXPECT_NE(tensor_bytes(result, "fc2.weight"), tensor_bytes(source, "fc2.weight"));
        if (with_first_shard.empty()) with_first_shard = checkpoint_bytes(begun);
        EXPECT_EQ(checkpoint_bytes(begun), with_first_shard) << ranks << shard;
      }
    }
}

TEST_F(Pretrained, FrozenParametersKeepTheirBitsUnderSvrgAndAccumulationA05) {
  const SafetensorsFile source = weights_in(folder);
  for (const char* way : {"optimizer.variance_reduction=svrg", "train.accumulate=2"}) {
    const TemporaryFolder begun;
    train(small_job(begun, {from(), "model.freeze=fc1.*", "train.steps=6", "partition.data=2",
                            "optimizer.weight_decay=0.1", way}),
          {});
    const SafetensorsFile result = weights_in(begun);
    EXPECT_EQ(tensor_bytes(result, "fc1.weight"), tensor_bytes(source, "fc1.weight")) << way;
    EXPECT_NE(tensor_bytes(result, "fc2.weight"), tensor_bytes(source, "fc2.weight")) << way;
  }
}

TEST_F(Pretrained, FrozenGradientsAreZeroA05) {
  const Job job = small_job(folder, {"model.freeze=fc1.*"});
  const auto dataset = open_data(job, data::Split::train);
  Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
  replica.initialise(3);
  const std::vector<double> x(4 * 6, 0.7), weights(4, 0.25);
  const std::vector<std::int32_t> labels = {0, 1, 2, 0};
  const BatchPointers batch{
      .samples = 4, .local = 4, .fields = {x.data(), labels.data(), weights.data()}};
  EXPECT_GT(replica.step(batch, {.rate = 0.1}).gradient_norm, 0);
  const auto* g = static_cast<const double*>(replica.gradients());
  for (const Range& range : replica.table().ranges) {
    double sum = 0;
    for (std::int64_t i = range.offset; i < range.end(); ++i) sum += std::abs(g[i]);
    EXPECT_EQ(sum == 0, range.name.starts_with("fc1.")) << range.name;
  }
}

TEST_F(Pretrained, AResumedRunGoesOnFromItsCheckpointA05) {
  const TemporaryFolder whole, parts;
  train(small_job(whole, {from(), "train.steps=12"}), {});
  train(small_job(parts, {from(), "train.steps=5"}), {});
  std::string printed;
  train(small_job(parts, {from(), "train.steps=12"}),
        {.resume = true, .print = [&](const std::string& line) { printed += line; }});
  EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole));
  EXPECT_EQ(printed.find("began from"), std::string::npos) << printed;
}

TEST_F(Pretrained, RefusesWhatHasNothingToGiveA05) {
  const TemporaryFolder begun;
  const auto refused = [&](const std::vector<std::string>& changes,
                           std::initializer_list<const char*> parts) {
    expect_error([&] { train(small_job(begun, changes), {}); }, parts);
  };
  refused({from(), "model.hidden=[9]", "data.classes=4"},
          {"train.from", "small.safetensors", "fc1.weight (f64 8×6 there, 9×6 here)",
           "all have other shapes here"});
  refused({"train.from=/no/such"}, {"train.from", "/no/such.safetensors"});
  write_bytes(begun.file("text.safetensors"), "no tensors at all");
  refused({"train.from=\"" + begun.file("text.safetensors") + "\""},
          {"text.safetensors is damaged or not a safetensors file"});
}

TEST_F(Pretrained, RefusesToFreezeWhatIsNotThereA05) {
  const TemporaryFolder begun;
  const auto refused = [&](const char* change, std::initializer_list<const char*> parts) {
    expect_error([&] { train(small_job(begun, {change}), {}); }, parts);
  };
  refused("model.freeze=\"fc1.* fc2.wight\"",
          {"[model]", "'fc2.wight'", "did you mean 'fc2.weight'?"});
  refused("model.freeze=*", {"[model]", "'freeze' is \"*\"", "nothing to train"});
}

// The statistics of batch normalisation come along. A momentum of 0 leaves them as they began.
TEST(PretrainedLayers, LayerStateIsLoadedToo) {
  const std::string recipe = R"([data]
name = "synthetic"
shape = [6]
classes = 3
count = 60
test_count = 30
[train]
steps = 4
batch = 12
dtype = "f32"
record = "none"
[machine]
threads = 1
[[model.layers]]
type = "linear"
units = 5
[[model.layers]]
type = "batch_norm"
momentum = {}
[[model.layers]]
type = "linear"
units = 3
)";
  const auto run = [&](const TemporaryFolder& folder, const char* momentum,
                       const std::vector<std::string>& changes) {
    Recipe own = parse_recipe(fmt::format(fmt::runtime(recipe), momentum), "layers.toml");
    set(own, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const std::string& change : changes) set(own, change);
    train(make_job(own, default_lists()), {});
  };
  const TemporaryFolder first, second;
  run(first, "0.1", {"train.dtype=f64"});
  run(second, "0",
      {"train.from=\"" + first.file("small.safetensors") + "\"", "optimizer.rate=0",
       "partition.data=2"});
  const SafetensorsFile there = weights_in(first), here = weights_in(second);
  for (const NamedTensor& entry : there.tensors) {
    const Tensor* loaded = here.find(entry.name);
    ASSERT_NE(loaded, nullptr) << entry.name;
    for (std::int64_t i = 0; i < loaded->count(); ++i)
      EXPECT_EQ(loaded->as<float>()[i], static_cast<float>(entry.tensor.as<double>()[i]))
          << entry.name;
  }
}

// A file as another tool writes it: half precision, counters of 64 bits, other names besides.
TEST(PretrainedFiles, OtherToolsTypesAreConvertedA05) {
  const TemporaryFolder folder;
  std::string data;
  const auto add = [&](auto value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    data.append(bytes, sizeof value);
  };
  for (const std::uint16_t half : {0x3c00, 0xc000, 0x3555}) add(half);  // 1, −2, 0.333251953125
  for (const float one : {1.5f, -3.0f, 1e30f}) add(Bf16(one));
  add(std::int64_t{77});
  for (const double one : {0.1, -0.2}) add(one);
  std::string header = R"({"a":{"dtype":"F16","shape":[3],"data_offsets":[0,6]},)"
                       R"("b":{"dtype":"BF16","shape":[1,3],"data_offsets":[6,12]},)"
                       R"("c":{"dtype":"I64","shape":[],"data_offsets":[12,20]},)"
                       R"("d":{"dtype":"F64","shape":[2],"data_offsets":[20,36]}})";
  const std::uint64_t bytes = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &bytes, 8);
  write_bytes(folder.file("other.safetensors"), file + header + data);

  RangeTable table;
  table.add("d", {2});
  table.add("a", {3});
  table.add("b", {1, 3});
  table.add("c", {});
  table.add("e", {2});
  std::vector<float> w(static_cast<std::size_t>(table.count()), 5);
  const std::vector<std::string> lines =
      load_matching(folder.file("other"), DType::f32, {{&table, w.data()}});
  const auto at = [&](const char* name, int i) {
    return w[static_cast<std::size_t>(table.find(name).offset + i)];
  };
  EXPECT_EQ(at("a", 0), 1);
  EXPECT_EQ(at("a", 1), -2);
  EXPECT_EQ(at("a", 2), 0.333251953125f);
  EXPECT_EQ(at("b", 0), 1.5f);
  EXPECT_EQ(at("b", 1), -3);
  EXPECT_EQ(at("b", 2), static_cast<float>(Bf16(1e30f)));
  EXPECT_EQ(at("d", 0), 0.1f);
  EXPECT_EQ(at("d", 1), -0.2f);
  EXPECT_EQ(at("c", 0), 5) << "a counter is no weight";
  EXPECT_EQ(at("e", 1), 5);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[0].find("3 of 5 tensors loaded"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("c (I64 scalar there, scalar here)"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("1 not in that file, initialised instead: e"), std::string::npos);
}

TEST(PretrainedFiles, ALongListIsCutA05) {
  const TemporaryFolder folder;
  std::vector<float> values(8);
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 8; ++i)
    tensors.push_back(
        {fmt::format("t{}", i), {DType::f32, {1}, &values[static_cast<std::size_t>(i)]}});
  write_safetensors(folder.file("many.safetensors"), tensors, {});
  RangeTable table;
  table.add("t0", {1});
  std::vector<float> w(static_cast<std::size_t>(table.count()));
  const std::vector<std::string> lines =
      load_matching(folder.file("many"), DType::f32, {{&table, w.data()}});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], "7 of that file not used: t1, t2, t3, t4, t5 …");
}

}  // namespace
}  // namespace tutti
