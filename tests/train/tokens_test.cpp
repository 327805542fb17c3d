// SPDX-License-Identifier: Apache-2.0
// Networks on fields per token and on several inputs, through the whole engine: trained, evaluated,
// predicted from, checkpointed, on one rank and on several, in buckets.
#include "tutti/nn/layer.h"
#include "tutti/ops/reshape.h"
#include "tutti/train/evaluate.h"
#include "tutti/train/predict.h"
#include "tutti/train/trained_network.h"

#include "expect_error.h"
#include "small_job.h"

namespace tutti {
namespace {

constexpr const char* token_recipe = R"([model]
name = "token_mlp"
hidden = 12
width = 6
dropout = 0.3
[data]
name = "tokens"
count = 60
test_count = 31
[train]
steps = 12
batch = 10
seed = 3
dtype = "f64"
[optimizer]
rule = "momentum"
rate = 0.3
[exchange]
order = "fixed"
[machine]
backend = "reference"
threads = 1
)";

Job token_job(const TemporaryFolder& folder, const std::vector<std::string>& changes = {}) {
  Recipe recipe = parse_recipe(token_recipe, "tokens.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=\"" + folder.file("small.jsonl") + "\"");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

const std::vector<std::string> answers{"data.answers=sample", "data.answers=token"};

std::vector<std::string> with(const std::string& first, std::vector<std::string> more = {}) {
  more.insert(more.begin(), first);
  return more;
}

TEST(Tokens, AreLearnt) {
  for (const std::string& answer : answers) {
    const TemporaryFolder folder;
    const Job job =
        token_job(folder, with(answer, {"train.steps=400", "data.count=500", "optimizer.rule=adam",
                                        "optimizer.rate=0.02", "model.dropout=0"}));
    EXPECT_GT(train(job, {}).test_accuracy, 0.9) << answer;
  }
}

TEST(Tokens, SeveralRanksTrainWhatOneDoes) {
  const std::vector<std::vector<std::string>> ways{
      {"exchange.store=all"},
      {"exchange.store=sharded_weights"},
      {"exchange.payload=factors", "exchange.order=any"}};
  for (const std::string& answer : answers) {
    const TemporaryFolder one;
    const double accuracy = train(token_job(one, {answer}), {}).test_accuracy;
    for (const char* ranks : {"partition.data=2", "partition.data=3"})
      for (std::vector<std::string> changes : ways) {
        const TemporaryFolder many;
        changes.insert(changes.end(), {answer, ranks});
        const TrainSummary summary = train(token_job(many, changes), {});
        EXPECT_LT(largest_difference(one, many), 1e-12)
            << answer << " " << ranks << " " << changes[0];
        EXPECT_EQ(summary.test_accuracy, accuracy);
      }
  }
}

TEST(Tokens, RanksAreNotWeighedBySamplesWhereTokensCount) {
  const TemporaryFolder by_sample, folder;
  const std::vector<std::string> mean{"exchange.merge=mean", "partition.data=2"};
  EXPECT_GT(train(token_job(by_sample, with("data.answers=sample", mean)), {}).steps_done, 0);
  expect_error([&] { train(token_job(folder, with("data.answers=token", mean)), {}); },
               {"exchange.merge = \"mean\"", "per token", "\"sum\""});
}

TEST(Tokens, PassesOfABatchTrainWhatOneDoes) {
  for (const std::string& answer : answers) {
    const TemporaryFolder whole, passes;
    train(token_job(whole, {answer}), {});
    train(token_job(passes, with(answer, {"train.accumulate=10"})), {});
    EXPECT_LT(largest_difference(whole, passes), 1e-12) << answer;
  }
}

// Samples and tokens stand in one dimension when the mask is drawn.
const Model dropped_rows{.name = "dropped_rows",
                         .doc = "dropout on a row for each token",
                         .build = [](Net& net, ValueId x, const Settings&) {
                           x = net.apply(nn::embedding, x, {{"rows", 20}, {"width", 6}});
                           x = net.layer("rows", "reshape", [&] {
                             return net.graph.add1(ops::reshape, {x}, {{"shape", Shape{-1, 6}}});
                           });
                           x = net.apply(nn::dropout, x, {{"rate", 0.5}});
                           return net.apply(nn::linear, x, {{"units", net.classes}});
                         }};

TEST(Tokens, MasksBehindAMergeDoNotDependOnTheCut) {
  const auto run = [](const TemporaryFolder& folder, const char* cut) {
    Recipe recipe = parse_recipe(token_recipe, "tokens.toml");
    recipe.tables["model"] = {{"name", "dropped_rows"}};
    set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const char* change : {"train.record=none", "data.answers=token", cut}) set(recipe, change);
    Lists lists = default_lists();
    lists.models.add(dropped_rows);
    train(make_job(recipe, lists), {});
  };
  const TemporaryFolder whole;
  run(whole, "partition.data=1");
  for (const char* cut : {"partition.data=2", "partition.data=3", "train.accumulate=10"}) {
    const TemporaryFolder parts;
    run(parts, cut);
    EXPECT_LT(largest_difference(whole, parts), 1e-12) << cut;
  }
}

// What is padded and how far changes nothing, but for the order of sums. Masks are numbered by the
// room that there is, so dropout is off.
TEST(Tokens, BucketsChangeNoResult) {
  for (const std::string& answer : answers) {
    const TemporaryFolder wide, narrow;
    train(token_job(wide, with(answer, {"data.buckets=[12]", "model.dropout=0"})), {});
    train(token_job(narrow, with(answer, {"data.buckets=[9, 10, 11, 12]", "model.dropout=0"})), {});
    const SafetensorsFile left = read_safetensors(wide.file("small.safetensors"));
    const SafetensorsFile right = read_safetensors(narrow.file("small.safetensors"));
    ASSERT_FALSE(left.tensors.empty());
    EXPECT_LT(largest_difference(wide, narrow), 1e-12) << answer;
  }
}

TEST(Tokens, GoOnFromACheckpointOnOtherRanks) {
  for (const std::string& answer : answers) {
    const TemporaryFolder whole, parts;
    train(token_job(whole, with(answer, {"partition.data=2"})), {});
    train(token_job(parts, with(answer, {"train.steps=5"})), {});
    TrainOptions resuming;
    resuming.resume = true;
    train(token_job(parts, with(answer, {"partition.data=2"})), resuming);
    EXPECT_LT(largest_difference(whole, parts), 1e-12) << answer;
  }
}

// Predictions from nothing but the file and the data set: they count what evaluation counts.
TEST(Tokens, PredictionsAgreeWithTheAccuracy) {
  for (const std::string& answer : answers) {
    const TemporaryFolder folder;
    const Job job = token_job(folder, with(answer, {"train.evaluation_batch=8"}));
    train(job, {});
    const std::string weights = folder.file("small");
    const auto test = open_data(job, data::Split::test);
    const TrainedNetwork network = trained_network(job, weights);
    EXPECT_EQ(network.fields, test->fields);
    Predictor predict(job, network, weights);
    const Predictions made = predict(*test);
    const bool per_token = answer == "data.answers=token";
    ASSERT_EQ(made.samples, 31);
    ASSERT_EQ(made.tokens.size(), per_token ? 31U : 0U);
    std::int64_t right = 0, all = 0, row = 0;
    for (std::int64_t i = 0; i < 31; ++i) {
      std::vector<std::int32_t> input(16), labels(16), length(1);
      test->read({&i, 1},
                 {.fields = {input.data(), labels.data(), length.data(), nullptr}, .tokens = 16});
      const std::int64_t rows = per_token ? length[0] : 1;
      for (std::int64_t t = 0; t < rows; ++t, ++row, ++all)
        right += made.classes[static_cast<std::size_t>(row)] == labels[static_cast<std::size_t>(t)];
    }
    ASSERT_EQ(static_cast<std::int64_t>(made.classes.size()), all);
    const Evaluation evaluation = evaluate(job, weights);
    EXPECT_NEAR(static_cast<double>(right) / static_cast<double>(all), evaluation.accuracy, 1e-12);
    std::int64_t counted = 0;
    for (const std::int64_t count : evaluation.confusion.counts) counted += count;
    EXPECT_EQ(counted, all) << "padding is not counted";
    expect_error([&] { predict(std::vector<float>(12)); }, {"takes 3 fields", "--test"});
  }
}

TEST(Tokens, PredictorsRefuseOtherFieldsAndDamagedLists) {
  const TemporaryFolder folder;
  const Job job = token_job(folder);
  train(job, {});
  const std::string weights = folder.file("small"), file = weights + ".safetensors";
  Predictor predict(job, trained_network(job, weights), weights);
  const auto others = open_data(token_job(folder, {"data.features=3"}), data::Split::test);
  expect_error([&] { predict(*others); }, {"other fields"});
  for (const char* text : {"", "[", "[{}]", R"([{"name": "input"}])"}) {
    const SafetensorsFile written = read_safetensors(file);
    Metadata metadata = written.metadata;
    metadata["fields"] = text;
    write_safetensors(file, written.tensors, metadata);
    expect_error([&] { trained_network(job, weights); }, {"metadata 'fields'"});
  }
}

// The same chain of layers in a recipe.
TEST(Tokens, ALinearLayerWorksOnEveryToken) {
  const TemporaryFolder one, two;
  const auto job = [&](const TemporaryFolder& folder, const char* ranks) {
    Recipe recipe = parse_recipe(token_recipe, "tokens.toml");
    recipe.tables["model"] = {{"name", "layers"}};
    recipe.layers = {{{"type", "embedding"}, {"rows", 20}, {"width", 5}},
                     {{"type", "linear"}, {"units", 7}},
                     {{"type", "relu"}},
                     {{"type", "dropout"}, {"rate", 0.5}},
                     {{"type", "linear"}, {"units", 3}}};
    set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
    for (const char* change : {"train.record=none", "data.answers=token", ranks})
      set(recipe, change);
    return make_job(recipe, default_lists());
  };
  train(job(one, "partition.data=1"), {});
  train(job(two, "partition.data=3"), {});
  EXPECT_LT(largest_difference(one, two), 1e-12);
}

}  // namespace
}  // namespace tutti
