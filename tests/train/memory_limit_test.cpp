// SPDX-License-Identifier: Apache-2.0
// P12: what is computed again under a memory limit, on compiled steps.
#include "tutti/recipe/make_job.h"
#include "tutti/train/replica.h"
#include "tutti/train/replica_options.h"

#include "small_job.h"

namespace tutti {
namespace {

MemoryReport memory_of(const std::vector<std::string>& changes) {
  Recipe recipe = parse_recipe(R"([model]
name = "resnet20"
[data]
name = "synthetic"
shape = [3, 16, 16]
classes = 4
count = 32
test_count = 8
[train]
steps = 1
batch = 8
[machine]
threads = 1
)",
                               "limit.toml");
  for (const std::string& change : changes) set(recipe, change);
  const Job job = make_job(recipe, default_lists());
  const auto dataset = open_data(job, data::Split::train);
  Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
  replica.training_program(8, 8, {});
  return replica.memory_report();
}

// Whatever fits by another rule, the limit finds it or something cheaper.
TEST(MemoryLimit, P12NoNumberOfSlotsAndNoRootIsCheaperThanTheLimit) {
  std::vector<std::string> others = {"memory.recompute=root"};
  for (int slots : {2, 4, 7}) others.push_back(fmt::format("memory.slots={}", slots));
  int cheaper = 0;
  for (const std::string& other : others) {
    const MemoryReport by_other = memory_of({"memory.recompute=slots", other});
    const MemoryReport by_limit = memory_of({fmt::format("memory.limit={}", by_other.bytes)});
    EXPECT_LE(by_limit.bytes, by_other.bytes) << other;
    EXPECT_LE(by_limit.extra_work, by_other.extra_work) << other;
    cheaper += by_limit.extra_work < 0.7 * by_other.extra_work ? 1 : 0;
  }
  EXPECT_GT(cheaper, 0) << "cells of different sizes are no equal slots";
}

}  // namespace
}  // namespace tutti
