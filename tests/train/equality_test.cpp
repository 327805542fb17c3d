// SPDX-License-Identifier: Apache-2.0
// C01, B19: a network trained by several ranks is the one that one rank trains, in double on the
// reference back end; and the same bits however the ranks share out memory and messages.
#include "tutti/recipe/make_job.h"

#include "small_job.h"

namespace tutti {
namespace {

// Samples that don't divide by the ranks.
Job model_job(const TemporaryFolder& folder, const std::string& model, const std::string& shape,
              int steps, const std::vector<std::string>& changes) {
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  recipe.tables["model"] = {{"name", model}};
  set(recipe, "data.shape=" + shape);
  set(recipe, "train.steps=" + std::to_string(steps));
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  for (const char* change : {"train.record=none", "train.evaluate_every=0", "data.count=20",
                             "train.batch=5", "optimizer.rate=0.01"})
    set(recipe, change);
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

void expect_equal(const std::string& model, const std::string& shape, int steps,
                  const std::vector<std::string>& own = {}) {
  const TemporaryFolder one;
  train(model_job(one, model, shape, steps, own), {});
  for (int ranks = 2; ranks <= 4; ++ranks)
    for (const auto& [algorithm, shard] :
         {std::pair{"auto", "sharded"}, {"rabenseifner", "all"}, {"ring", "sharded_weights"}}) {
      const TemporaryFolder many;
      std::vector<std::string> changes = own;
      changes.insert(changes.end(), {fmt::format("partition.data={}", ranks), "exchange.order=any",
                                     fmt::format("exchange.allreduce={}", algorithm),
                                     fmt::format("exchange.store={}", shard)});
      train(model_job(many, model, shape, steps, changes), {});
      EXPECT_LT(largest_difference(one, many), 1e-10)
          << model << " on " << ranks << " ranks, " << algorithm << ", " << shard;
    }
}

TEST(Equality, OfThePerceptronAfter50StepsC01A10) {
  expect_equal("mlp", "[6]", 50, {"model.hidden=[20,9]"});
}

TEST(Equality, OfLeNetAfter50StepsC01A10) { expect_equal("lenet", "[1,12,12]", 50); }

// Normalised over the whole batch (B19), which has samples enough that no variance vanishes: there
// rounding would grow.
TEST(Equality, OfResNet20After50StepsC01B19) {
  expect_equal("resnet20", "[3,4,4]", 50, {"model.width=2", "train.batch=10"});
}

// In fixed order nothing but the number of ranks and passes changes a bit: not who keeps what, when
// messages travel, nor in blocks of which size.
void expect_same_bits(const std::string& model, const std::string& shape,
                      const std::vector<std::string>& own, const std::vector<int>& blocks) {
  for (const int ranks : {3, 4})
    for (const int passes : {1, 2}) {
      std::string bits;
      for (const char* shard : {"all", "sharded", "sharded_weights"})
        for (const char* overlap : {"true", "false"})
          for (const int block : blocks) {
            const TemporaryFolder folder;
            std::vector<std::string> changes = own;
            changes.insert(changes.end(),
                           {"data.count=35", "train.batch=9", "train.dtype=f32",
                            "machine.backend=cpu", fmt::format("partition.data={}", ranks),
                            fmt::format("train.accumulate={}", passes),
                            fmt::format("exchange.store={}", shard),
                            fmt::format("exchange.overlap={}", overlap),
                            fmt::format("exchange.block_bytes={}", block)});
            train(model_job(folder, model, shape, 9, changes), {});
            if (bits.empty()) bits = checkpoint_bytes(folder);
            EXPECT_TRUE(checkpoint_bytes(folder) == bits)
                << model << " on " << ranks << " ranks in " << passes << " passes, " << shard
                << ", overlap " << overlap << ", blocks of " << block;
          }
    }
}

TEST(Equality, InFixedOrderOfThePerceptronC01C03A09) {
  expect_same_bits("mlp", "[6]", {"model.hidden=[20,9]", "optimizer.clip_norm=0.1"},
                   {1, 512, 1 << 20});
}

TEST(Equality, InFixedOrderOfLeNetC01C03A09) {
  expect_same_bits("lenet", "[1,12,12]", {"optimizer.rule=adam"}, {4096, 1 << 20});
}

TEST(Equality, InFixedOrderOfResNet20C01C03A09B19) {
  expect_same_bits("resnet20", "[3,4,4]", {"model.width=4", "train.steps=4"}, {4096});
}

}  // namespace
}  // namespace tutti
