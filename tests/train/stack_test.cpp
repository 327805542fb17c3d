// SPDX-License-Identifier: Apache-2.0
// C16: the deep stacking network. Everything in double, on the references.
#include "tutti/train/stack.h"

#include "tutti/checkpoint/safetensors.h"
#include "tutti/nn/net.h"
#include "tutti/ops/matmul.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/evaluate.h"

#include "expect_error.h"
#include "small_job.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

namespace tutti {
namespace {

constexpr double ridge = 0.01;

Job stack_job(const TemporaryFolder& folder, const std::vector<std::string>& changes = {}) {
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  recipe.tables["model"] = {{"name", "dsn"}, {"modules", 3}, {"hidden", 12}};
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=\"" + folder.file("small.jsonl") + "\"");
  set(recipe, "data.noise=2");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

using Rows = std::vector<std::vector<double>>;

Rows rows_of(const SafetensorsFile& file, const std::string& name) {
  const Tensor* tensor = file.find(name);
  Rows rows(static_cast<std::size_t>(tensor->shape[0]));
  const double* from = tensor->as<double>();
  for (auto& row : rows) {
    row.assign(from, from + tensor->count() / tensor->shape[0]);
    from += row.size();
  }
  return rows;
}

double product_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// (HHᵀ + λI)U = HTᵀ for every module, by plain loops over all samples.
TEST(Stack, C16OutputWeightsSolveTheNormalEquations) {
  const TemporaryFolder folder;
  const Job job = stack_job(folder);
  const std::vector<double> errors = fit_stack(job, ridge).errors;
  const SafetensorsFile file = read_safetensors(folder.file("small.safetensors"));
  const auto data = open_data(job, data::Split::train);
  std::vector<double> sums(3);  // squared errors of the modules
  std::vector<Rows> left(3, Rows(12, std::vector<double>(3))),
      hh(3, Rows(12, std::vector<double>(12)));
  for (std::int64_t i = 0; i < data->count; ++i) {
    std::vector<double> x(6), said, t(3);
    std::int32_t label = 0;
    const std::int64_t index[] = {i};
    data->read(index, {DType::f64, {x.data(), &label}});
    t[static_cast<std::size_t>(label)] = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string module = fmt::format("module{}.", k + 1);
      const Rows w = rows_of(file, module + "input.weight"),
                 u = rows_of(file, module + "output.weight");
      const std::vector<double> b(file.find(module + "input.bias")->as<double>(),
                                  file.find(module + "input.bias")->as<double>() + 12);
      std::vector<double> h(12);
      for (std::size_t j = 0; j < 12; ++j) {
        h[j] = product_of(w[j], x) + b[j];
        if (k > 0) h[j] += product_of(rows_of(file, module + "previous.weight")[j], said);
        h[j] = 1 / (1 + std::exp(-h[j]));
      }
      for (std::size_t j = 0; j < 12; ++j) {
        for (std::size_t l = 0; l < 12; ++l) hh[k][j][l] += h[j] * h[l];
        for (std::size_t o = 0; o < 3; ++o) left[k][j][o] += h[j] * t[o];
      }
      for (std::size_t o = 0; o < 3; ++o) {
        said.push_back(product_of(u[o], h));
        sums[k] += std::pow(t[o] - said.back(), 2);
      }
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const Rows u = rows_of(file, fmt::format("module{}.output.weight", k + 1));
    for (std::size_t j = 0; j < 12; ++j)
      for (std::size_t o = 0; o < 3; ++o) {
        double sum = ridge * u[o][j];
        for (std::size_t l = 0; l < 12; ++l) sum += hh[k][j][l] * u[o][l];
        EXPECT_NEAR(sum, left[k][j][o], 1e-8) << "module " << k + 1;
      }
    EXPECT_NEAR(errors[k], sums[k] / static_cast<double>(data->count), 1e-8);
  }
}

// With units enough that a module can repeat what those before it say.
TEST(Stack, C16TrainingErrorDoesNotGrowWithTheModules) {
  for (const char* seed : {"train.seed=1", "train.seed=2", "train.seed=3"}) {
    const TemporaryFolder folder;
    const Job job =
        stack_job(folder, {seed, "model.modules=6", "model.hidden=100", "data.count=300"});
    const std::vector<double> errors = fit_stack(job, ridge).errors;
    for (std::size_t k = 1; k < errors.size(); ++k) EXPECT_LE(errors[k], errors[k - 1]) << k;
    EXPECT_LT(errors.back(), 0.9 * errors.front());
  }
}

// What the input adds to a module waits for no other module.
TEST(Stack, C16InputPartsOfAllModulesCanStartAtOnce) {
  const TemporaryFolder folder;
  const Job job = stack_job(folder);
  const Net net = build_net(job, net_input(job, *open_data(job, data::Split::train)));
  int found = 0;
  for (const Node& node : net.graph.nodes)
    if (node.op == &ops::matmul && node.name.ends_with(".input")) {
      EXPECT_EQ(net.graph.value(node.inputs[0]).producer, no_node) << "more than the input";
      ++found;
    }
  EXPECT_EQ(found, 3);
}

TEST(Stack, ItsCheckpointIsOneLikeOthers) {
  const TemporaryFolder folder;
  const Job job = stack_job(folder, {"data.noise=0.5"});
  fit_stack(job, ridge);
  EXPECT_GT(evaluate(job, folder.file("small")).accuracy, 0.9);
  EXPECT_NO_THROW(train(job, {.resume = true}));
}

TEST(Stack, ItsRecordHasAStepForEachModule) {
  const TemporaryFolder folder;
  const FittedStack fitted = fit_stack(stack_job(folder), ridge, "1.2.3");
  std::istringstream text(read_bytes(folder.file("small.jsonl")));
  std::vector<nlohmann::json> lines;
  std::vector<std::string> kinds;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(nlohmann::json::parse(line));
    kinds.push_back(lines.back().at("kind"));
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"settings", "remark", "step", "step", "step",
                                             "evaluation", "checkpoint", "summary"}));
  EXPECT_EQ(lines[0].at("version"), "1.2.3");
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(lines[2 + k].at("step"), k + 1);
    EXPECT_EQ(lines[2 + k].at("loss"), fitted.errors[k]);
    EXPECT_TRUE(lines[2 + k].at("accuracy").is_null());
  }
  EXPECT_EQ(lines[5].at("accuracy"), fitted.test->accuracy);
  EXPECT_EQ(lines[7].at("test_accuracy"), fitted.test->accuracy);
}

TEST(Stack, Refusals) {
  const TemporaryFolder folder;
  expect_error([&] { fit_stack(small_job(folder), ridge); }, {"'mlp'", "expected 'dsn'"});
  expect_error([&] { fit_stack(stack_job(folder, {"partition.data=2"}), ridge); },
               {"partition.data is 2"});
  expect_error(
      [&] {
        fit_stack(stack_job(folder, {"data.count=5", "train.batch=5"}), 0);
      },
      {"give a ridge above 0"});
}

}  // namespace
}  // namespace tutti
