// SPDX-License-Identifier: Apache-2.0
// tutti eval: loss and accuracy (or absolute error) of trained weights on the test data; which
// classes are found and which are confused.
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/job_options.h"
#include "tutti/train/evaluate.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <memory>

namespace tutti::cli {
namespace {

constexpr std::int64_t most_classes_in_matrix = 20;
constexpr std::size_t most_pairs = 20;

struct EvalArguments {
  JobOptions job;
  bool json = false;
};

using Rows = std::vector<std::vector<std::string>>;

Rows figure_rows(const Evaluation& result) {
  Rows rows = {{"class", "precision", "recall", "f1", "support"}};
  const std::vector<ClassFigures> figures = figures_of(result.confusion);
  for (std::size_t c = 0; c < figures.size(); ++c)
    rows.push_back({result.class_names[c], fmt::format("{:.4f}", figures[c].precision),
                    fmt::format("{:.4f}", figures[c].recall), fmt::format("{:.4f}", figures[c].f1),
                    std::to_string(figures[c].support)});
  return rows;
}

// The first characters of a name, so that many columns fit.
std::string shortened(const std::string& name) {
  constexpr int most = 8;
  int characters = 0;
  for (std::size_t i = 0; i < name.size(); ++i)
    if ((name[i] & 0xc0) != 0x80 && ++characters > most) return name.substr(0, i);
  return name;
}

// The confusion matrix: a row for each true class, a column for each predicted class.
Rows matrix_rows(const Evaluation& result) {
  Rows rows = {{""}};
  for (const std::string& name : result.class_names) rows[0].push_back(shortened(name));
  for (std::int64_t truth = 0; truth < result.confusion.classes; ++truth) {
    rows.push_back({result.class_names[static_cast<std::size_t>(truth)]});
    for (std::int64_t said = 0; said < result.confusion.classes; ++said)
      rows.back().push_back(std::to_string(result.confusion.at(truth, said)));
  }
  return rows;
}

Rows pair_rows(const Evaluation& result) {
  Rows rows = {{"true class", "taken for", "samples"}};
  for (const ConfusedPair& pair : most_confused(result.confusion, most_pairs))
    rows.push_back({result.class_names[static_cast<std::size_t>(pair.truth)],
                    result.class_names[static_cast<std::size_t>(pair.predicted)],
                    std::to_string(pair.count)});
  return rows;
}

void print_text(const Evaluation& result) {
  fmt::print("test loss {:.6f}", result.loss);
  if (result.class_names.empty())
    fmt::print("  test absolute error {:.6f}", result.absolute_error);
  else
    fmt::print("  test accuracy {:.2f} %", 100 * result.accuracy);
  fmt::print("  {} samples\n", result.samples);
  if (result.confusion.classes == 0) return;
  fmt::print("\n{}", in_columns(figure_rows(result)));
  if (result.confusion.classes <= most_classes_in_matrix)
    fmt::print("\nConfusion: a row for each true class, a column for each predicted one.\n{}",
               in_columns(matrix_rows(result)));
  else
    fmt::print("\nMost confused classes:\n{}", in_columns(pair_rows(result)));
}

void print_json(const Evaluation& result) {
  using Json = nlohmann::ordered_json;
  Json object = {{"loss", result.loss}, {"samples", result.samples}};
  if (result.class_names.empty())
    object["absolute_error"] = result.absolute_error;
  else
    object["accuracy"] = result.accuracy;
  const std::vector<ClassFigures> figures = figures_of(result.confusion);
  for (std::size_t c = 0; c < figures.size(); ++c) {
    const auto row =
        result.confusion.counts.begin() + static_cast<std::int64_t>(c) * result.confusion.classes;
    object["classes"].push_back({{"name", result.class_names[c]},
                                 {"precision", figures[c].precision},
                                 {"recall", figures[c].recall},
                                 {"f1", figures[c].f1},
                                 {"support", figures[c].support}});
    object["confusion"].push_back(std::vector<std::int64_t>(row, row + result.confusion.classes));
  }
  fmt::print("{}\n", object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

int run_eval(EvalArguments options) {
  const Job job = trained_job(options.job);
  (options.json ? print_json : print_text)(evaluate(job, options.job.weights));
  return 0;
}

std::function<int()> add_eval(CLI::App& app) {
  const auto options = std::make_shared<EvalArguments>();
  add_recipe(app, options->job);
  add_weights(app, options->job);
  add_changes(app, options->job);
  app.add_flag("--json", options->json,
               "one JSON object; confusion[i][j] counts samples of class i taken for class j");
  app.footer(
      R"(Of classes it also prints precision, recall, f1 and number of samples of each, and the confusion
matrix; of more than 20 classes the pairs that are confused most.

Examples:
  tutti eval                               the weights that `tutti train` left
  tutti eval my.toml
  tutti eval --weights runs/my/checkpoint)");
  return [options] { return run_eval(*options); };
}

}  // namespace

const Command eval_command{"eval", "loss and accuracy of trained weights on the test data",
                           add_eval};

}  // namespace tutti::cli
