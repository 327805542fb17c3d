// SPDX-License-Identifier: Apache-2.0
// C01, B19: a network trained by several ranks is the one that one rank trains, in double on the
// reference back end. Other tests do so for the MLP and for normalisations alone.
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

void expect_equal(const std::string& model, const std::string& shape, int steps) {
  const TemporaryFolder one;
  train(model_job(one, model, shape, steps, {}), {});
  for (int ranks = 2; ranks <= 4; ++ranks)
    for (const char* algorithm : {"auto", "rabenseifner"}) {
      const TemporaryFolder many;
      train(model_job(many, model, shape, steps,
                      {fmt::format("partition.data={}", ranks), "exchange.order=any",
                       fmt::format("exchange.allreduce={}", algorithm)}),
            {});
      EXPECT_LT(largest_difference(one, many), 1e-10) << model << " on " << ranks << " ranks";
    }
}

TEST(Equality, OfLeNetAfter50StepsC01) { expect_equal("lenet", "[1,12,12]", 50); }

// Normalised over the whole batch (B19). Eight steps, so that the plain loops take seconds only.
TEST(Equality, OfResNet20C01B19) { expect_equal("resnet20", "[3,4,4]", 8); }

}  // namespace
}  // namespace tutti
