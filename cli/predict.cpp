// SPDX-License-Identifier: Apache-2.0
// tutti predict: predictions of trained weights for images and rows of numbers in files, a line for
// each sample.
#include "tutti/train/predict.h"

#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/sample_files.h"
#include "cli/shipped.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

namespace tutti::cli {
namespace {

struct PredictArguments {
  JobOptions job;
  std::vector<std::string> files;  // the first word may be a recipe
  std::int64_t top = 1;            // classes to print of each sample
  bool json = false;
  bool test = false;  // predict on the test data instead of files
};

// The class's name, or else its number.
std::string name_of_class(const TrainedNetwork& network, std::int64_t label) {
  return network.class_names.empty() ? std::to_string(label)
                                     : network.class_names[static_cast<std::size_t>(label)];
}

// The `top` most probable classes, the most probable first.
std::vector<std::int64_t> top_classes(const double* probabilities, std::int64_t classes,
                                      std::int64_t top) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(classes));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min(top, classes);
  std::partial_sort(order.begin(), end, order.end(), [&](std::int64_t a, std::int64_t b) {
    return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
  });
  order.erase(end, order.end());
  return order;
}

std::string line_of(const TrainedNetwork& network, const SampleFiles::Place& place,
                    const double* values, std::int64_t outputs, std::int64_t top) {
  std::string line = name_of(place);
  if (network.classes == 0)
    return fmt::format("{}\t{:.6g}", line, fmt::join(values, values + outputs, "\t"));
  for (const std::int64_t label : top_classes(values, outputs, top))
    line += fmt::format("\t{}\t{:.4f}", name_of_class(network, label), values[label]);
  return line;
}

std::string json_of(const TrainedNetwork& network, const SampleFiles::Place& place,
                    const double* values, std::int64_t outputs, std::int64_t top) {
  using Json = nlohmann::ordered_json;
  Json line = {{"file", place.file}};
  if (place.index >= 0) line["index"] = place.index;
  if (network.classes == 0) line["values"] = std::vector<double>(values, values + outputs);
  if (network.classes > 0) line["classes"] = Json::array();
  if (network.classes > 0)
    for (const std::int64_t label : top_classes(values, outputs, top))
      line["classes"].push_back({{"name", name_of_class(network, label)},
                                 {"label", label},
                                 {"probability", values[label]}});
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The file itself, or all images of a folder.
std::vector<std::string> files_at(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return {path};
  std::vector<std::string> images = data::images_below(path);
  if (images.empty()) throw Error("{} holds no .png, .jpg or .jpeg file", path);
  return images;
}

void print(const PredictArguments& options, const TrainedNetwork& network,
           const SampleFiles& samples, const Predictions& predictions) {
  for (std::size_t i = 0; i < samples.places.size(); ++i) {
    const double* values =
        predictions.values.data() + static_cast<std::int64_t>(i) * predictions.outputs;
    fmt::print("{}\n", (options.json ? json_of : line_of)(network, samples.places[i], values,
                                                          predictions.outputs, options.top));
  }
}

// Says what is wrong with a file; the others are still predicted.
void complain(const Error& error) {
  std::fflush(stdout);  // so that earlier output comes first
  std::string line = error.what();
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "tutti: {}\n", line);
}

// The places of predictions on the test data: "test[3]" for a sample, "test[3][7]" for a token.
SampleFiles places_in_test(const Predictions& predictions) {
  SampleFiles samples;
  for (std::int64_t i = 0; i < predictions.samples; ++i) {
    if (predictions.tokens.empty())
      samples.places.push_back({"test", i});
    else
      for (std::int64_t t = 0; t < predictions.tokens[static_cast<std::size_t>(i)]; ++t)
        samples.places.push_back({fmt::format("test[{}]", i), t});
  }
  return samples;
}

int predict_test(PredictArguments& options) {
  const Job job = scaled_as_trained(trained_job(options.job), options.job.weights);
  const TrainedNetwork network = trained_network(job, options.job.weights);
  const Predictions made =
      Predictor(job, network, options.job.weights)(*open_data(job, data::Split::test));
  print(options, network, places_in_test(made), made);
  return 0;
}

// Whether a word names a recipe. A word that is also the name of a file or folder means that file.
bool names_recipe(const std::string& word) {
  if (word.ends_with(".toml")) return true;
  const List<ShippedFile> shipped = shipped_recipes();
  return !std::filesystem::exists(word) &&
         std::any_of(shipped.begin(), shipped.end(),
                     [&](const ShippedFile& recipe) { return is_called(recipe, word); });
}

int run_predict(PredictArguments options) {
  if (!options.files.empty() && names_recipe(options.files[0])) {
    options.job.recipe = options.files[0];
    options.files.erase(options.files.begin());
  }
  if (options.test && options.files.empty()) return predict_test(options);
  if (options.test) throw UsageError("predict: --test takes the place of files, expected none");
  if (options.files.empty())
    throw UsageError(
        "predict: which images? Their files are required, PNG, JPEG, IDX, .npy or CSV, or folders "
        "of "
        "images; or --test");
  const Job job = trained_job(options.job);
  const TrainedNetwork network = trained_network(job, options.job.weights);
  Predictor predict(job, network, options.job.weights);
  const auto batch = static_cast<std::size_t>(job.table("train").integer("evaluation_batch"));
  SampleFiles samples;
  const auto flush = [&] {
    print(options, network, samples, predict(samples.x));
    samples = {};
  };
  bool failed = false;
  const auto attempt = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      flush();
      complain(error);
      failed = true;
    }
  };
  for (const std::string& path : options.files) {
    std::vector<std::string> files;
    attempt([&] { files = files_at(path); });
    for (const std::string& file : files) {
      attempt([&] { append_samples(job, network, file, samples); });
      if (samples.places.size() >= batch) flush();
    }
  }
  flush();
  return failed ? 1 : 0;
}

std::function<int()> add_predict(CLI::App& app) {
  const auto options = std::make_shared<PredictArguments>();
  app.add_option("files", options->files,
                 "[RECIPE] and samples: PNG, JPEG, IDX, .npy or CSV files, or folders, of "
                 "which all images are taken")
      ->type_name("FILE");
  add_weights(app, options->job);
  add_changes(app, options->job);
  app.add_option("--top", options->top, "the K most probable classes of each sample")
      ->type_name("K")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--json", options->json, "one JSON object for each sample");
  app.add_flag("--test", options->test,
               "the samples of the recipe's test data, whatever their fields, instead of files");
  app.footer(
      R"(Prints a line per sample: file (and index in it), class and its probability, separated by tabs; for
regression the predicted numbers. Images are resized to what the network was trained on; a CSV file has
the columns of training, or the inputs alone. A file that can't be read is named on the error output,
the others are still predicted, and the exit code is 1.

Examples:
  tutti predict digit.png                       by the weights that `tutti train` left
  tutti predict my.toml t10k-images-idx3-ubyte
  tutti predict --weights runs/my/checkpoint --top 3 a.png photos)");
  return [options] { return run_predict(*options); };
}

}  // namespace

const Command predict_command{"predict", "classes of images, or numbers predicted from numbers",
                              add_predict};

}  // namespace tutti::cli
