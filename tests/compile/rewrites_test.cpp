// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/rewrites.h"

#include "tutti/compile/compile_step.h"
#include "tutti/parallel/partition.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tutti {
namespace {

TEST(Rewrites, StandInOneListWithThePasses) {
  const std::vector<std::string> names = all_passes().names();
  const std::vector<std::string> expected = {
      "autodiff",      "recompute", "merge", "sample_rows", "partition", "carry",     "gather",
      "accumulate",    "factors",   "guard", "exchange",    "stop_word", "dead_code", "precision",
      "micro_batches", "variants",  "fuse",  "quantise",    "layout",    "memory"};
  EXPECT_EQ(names, expected);
  for (const Pass& pass : all_passes()) EXPECT_FALSE(pass.doc.empty()) << pass.name;
}

TEST(Rewrites, SomeCanNotBeLeftOut) {
  require_may_be_left_out({"recompute", "factors", "fuse"});
  expect_error([] { require_may_be_left_out({"exchange"}); },
               {"pass 'exchange' can't be left out", "sums gradients", "recompute, factors"});
  expect_error([] { require_may_be_left_out({"fuze"}); }, {"unknown pass 'fuze'", "fuse"});
}

// Of one of two ranks, with factors and with cells that are computed again.
std::vector<std::string> passes_run(const std::set<std::string>& without) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  StepSpec spec;
  spec.build = [&](const NetInput& input) {
    return build_net(all_models.find("mlp"), {{"hidden", Shape{64, 64, 64}}}, input);
  };
  spec.input = {.fields = input_and_labels({16}), .classes = 16};
  spec.backend = "reference";
  spec.memory.recompute = "every";
  spec.closing.update.rule = &all_rules.find("sgd");
  spec.closing.update.rule_settings = resolve(spec.closing.update.rule->settings, {}, "sgd");
  spec.closing.scheme.payload = payloads().find("factors");
  spec.batch = 32;
  spec.without = without;
  spec.mesh = data_mesh(2);
  spec.facts = {.size = 2};
  std::vector<std::string> names;
  for (const PassReport& report : StepCompiler(spec).compile({true, 32, 16}).passes)
    names.push_back(report.name);
  return names;
}

TEST(Rewrites, AreReportedInTheirOrderAndLeftOutByName) {
  const auto has = [](const std::vector<std::string>& names, const char* name) {
    return std::count(names.begin(), names.end(), name) == 1;
  };
  const std::vector<std::string> all = passes_run({});
  for (const char* name : {"autodiff", "recompute", "partition", "factors", "guard", "exchange"})
    EXPECT_TRUE(has(all, name)) << name;
  std::vector<std::string> in_order;
  for (const std::string& name : all_passes().names())
    if (has(all, name.c_str())) in_order.push_back(name);
  EXPECT_EQ(all, in_order);
  const std::vector<std::string> fewer = passes_run({"recompute", "factors", "fuse"});
  for (const char* name : {"recompute", "factors", "fuse"}) EXPECT_FALSE(has(fewer, name)) << name;
  EXPECT_EQ(fewer.size() + 3, all.size());
}

}  // namespace
}  // namespace tutti
