// SPDX-License-Identifier: Apache-2.0
// tutti eval: loss and accuracy (or absolute error) of trained weights on the test data.
#include "cli/commands.h"
#include "cli/job_options.h"
#include "tutti/train/evaluate.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tutti::cli {
namespace {

int run_eval(JobOptions options) {
  const Job job = trained_job(options);
  const bool classes = open_data(job, data::Split::test)->classes > 0;
  const Evaluation result = evaluate(job, options.weights);
  fmt::print("test loss {:.6f}", result.loss);
  if (classes)
    fmt::print("  test accuracy {:.2f} %", 100 * result.accuracy);
  else
    fmt::print("  test absolute error {:.6f}", result.absolute_error);
  fmt::print("  {} samples\n", result.samples);
  return 0;
}

std::function<int()> add_eval(CLI::App& app) {
  const auto options = std::make_shared<JobOptions>();
  add_recipe(app, *options);
  add_weights(app, *options);
  add_changes(app, *options);
  app.footer(R"(Examples:
  tutti eval                               the weights that `tutti train` left
  tutti eval my.toml
  tutti eval --weights runs/my/checkpoint)");
  return [options] { return run_eval(*options); };
}

}  // namespace

const Command eval_command{"eval", "loss and accuracy of trained weights on the test data",
                           add_eval};

}  // namespace tutti::cli
