// SPDX-License-Identifier: Apache-2.0
// tutti predict: what trained weights say about images and rows of numbers in files, a line for
// each.
#include "tutti/train/predict.h"

#include "cli/commands.h"
#include "cli/job_options.h"
#include "tutti/data/csv.h"
#include "tutti/data/gzip.h"
#include "tutti/data/idx.h"
#include "tutti/data/npy.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <memory>

namespace tutti::cli {
namespace {

struct PredictArguments {
  JobOptions job;
  std::vector<std::string> files;  // a recipe may come first
};

// Samples as the network wants them and what to call each.
struct Input {
  std::vector<float> x = {};
  std::vector<std::string> names = {};
};

using Append = void (*)(const Job& job, const std::string& weights, const Shape& wanted,
                        const std::string& path, Input& input);

void check_shape(const Shape& found, const Shape& wanted, const std::string& path) {
  if (found != wanted)
    throw Error("{} holds samples of {}, but the network was trained on {}", path, to_string(found),
                to_string(wanted));
}

// Vectors of features are scaled as in training; there is nothing to resize.
std::vector<float> features_of(const data::Scaling& scaling, const data::IdxFile& file,
                               const Shape& wanted, const std::string& path) {
  check_shape(data::idx_sample_shape(file), wanted, path);
  const data::ByteScaling scaled(scaling, wanted);
  std::vector<float> x(file.values().size());
  const auto per_sample = static_cast<std::size_t>(elements(wanted));
  for (std::size_t first = 0; first < x.size(); first += per_sample)
    scaled.scale(file.values().data() + first, x.data() + first);
  return x;
}

std::vector<data::Image> images_of(const data::IdxFile& file) {
  const Shape shape = data::idx_sample_shape(file);
  const auto bytes = static_cast<std::size_t>(elements(shape));
  std::vector<data::Image> images;
  for (std::size_t first = 0; first < file.values().size(); first += bytes) {
    const auto pixels = file.values().subspan(first, bytes);
    images.push_back({shape[0], shape[1], shape[2], {pixels.begin(), pixels.end()}});
  }
  return images;
}

void append_idx(const Job& job, const std::string& weights, const Shape& wanted,
                const std::string& path, Input& input) {
  const data::IdxFile file = data::open_idx_images(path);
  const bool features = file.shape().size() == 2 || wanted.size() != 3;
  const std::vector<float> x = features
                                   ? features_of(trained_scaling(job, weights), file, wanted, path)
                                   : samples_of(job, weights, images_of(file));
  input.x.insert(input.x.end(), x.begin(), x.end());
  for (std::int64_t i = 0; i < file.shape()[0]; ++i)
    input.names.push_back(fmt::format("{}[{}]", path, i));
}

void append_image(const Job& job, const std::string& weights, const Shape& wanted,
                  const std::string& path, Input& input) {
  if (wanted.size() != 3 || (wanted[0] != 1 && wanted[0] != 3))
    throw Error("{} is an image, but the network was trained on samples of {}", path,
                to_string(wanted));
  const std::vector<float> x = samples_of(
      job, weights, {data::read_image(path, wanted[0], wanted[1], wanted[2], fit_of(job))});
  input.x.insert(input.x.end(), x.begin(), x.end());
  input.names.push_back(path);
}

// Numbers that were not scaled yet, rows of such samples.
void append_numbers(const data::Scaling& scaling, const Shape& wanted, const std::string& path,
                    const std::vector<double>& values, Input& input) {
  const std::int64_t per_sample = elements(wanted), plane = per_sample / wanted[0];
  for (std::size_t i = 0; i < values.size(); ++i)
    input.x.push_back(scaling(values[i], static_cast<std::int64_t>(i) % per_sample / plane));
  for (std::size_t row = 0; row < values.size() / static_cast<std::size_t>(per_sample); ++row)
    input.names.push_back(fmt::format("{}[{}]", path, row));
}

void append_npy(const Job& job, const std::string& weights, const Shape& wanted,
                const std::string& path, Input& input) {
  const data::NpyFile file(path);
  check_shape(data::npy_sample_shape(file, path), wanted, path);
  std::vector<double> values(static_cast<std::size_t>(elements(file.shape())));
  file.visit([&](auto array) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(array[static_cast<std::int64_t>(i)]);
  });
  append_numbers(trained_scaling(job, weights), wanted, path, values, input);
}

void append_csv(const Job& job, const std::string& weights, const Shape& wanted,
                const std::string& path, Input& input) {
  const Settings& settings = job.table("data");
  const data::CsvTable table = data::read_csv(path, settings.text("separator")[0]);
  append_numbers(trained_scaling(job, weights), wanted, path,
                 data::inputs_of(table, settings, wanted[0], path), input);
}

// How to read the file, told by its first bytes.
Append reader_of(const Job& job, const std::string& path) {
  const data::MappedFile file(path);
  const auto bytes = file.bytes();
  if (data::is_png(bytes) || data::is_jpeg(bytes)) return append_image;
  if (data::NpyFile::is_npy(bytes)) return append_npy;
  const bool zeros = bytes.size() >= 2 && bytes[0] == 0 && bytes[1] == 0;
  if (zeros || data::is_gzip(bytes)) return append_idx;
  if (job.dataset.name == "csv") return append_csv;
  throw Error(
      "{}: expected a PNG or JPEG image or an IDX file (gzip'd or not), a .npy file, or a CSV file "
      "for a network that was trained on one",
      path);
}

void print(const Input& input, const Predictions& predictions) {
  const auto outputs = static_cast<std::size_t>(predictions.outputs);
  for (std::size_t i = 0; i < input.names.size(); ++i) {
    const double* values = predictions.values.data() + i * outputs;
    if (predictions.classes.empty())
      fmt::print("{}\t{:.6g}\n", input.names[i], fmt::join(values, values + outputs, "\t"));
    else
      fmt::print("{}\t{}\t{:.4f}\n", input.names[i], predictions.classes[i],
                 values[predictions.classes[i]]);
  }
}

int run_predict(PredictArguments options) {
  if (options.files[0].ends_with(".toml")) {
    options.job.recipe = options.files[0];
    options.files.erase(options.files.begin());
  }
  if (options.files.empty())
    throw UsageError("predict: which images? Name PNG, JPEG, IDX, .npy or CSV files");
  const Job job = trained_job(options.job);
  const Shape wanted = trained_input(job, options.job.weights).sample_shape;
  Input input;
  for (const std::string& path : options.files)
    reader_of(job, path)(job, options.job.weights, wanted, path, input);
  print(input, predict(job, options.job.weights, input.x));
  return 0;
}

std::function<int()> add_predict(CLI::App& app) {
  const auto options = std::make_shared<PredictArguments>();
  app.add_option("files", options->files,
                 "[recipe.toml] and samples: PNG, JPEG, IDX, .npy or CSV files")
      ->type_name("FILE")
      ->required();
  add_weights(app, options->job);
  add_changes(app, options->job);
  app.footer(
      R"(Prints a line per sample: file (and index in it), class and its probability, separated by tabs; for
regression the predicted numbers. Images are resized to what the network was trained on; a CSV file has
the columns of training, or the inputs alone.

Examples:
  tutti predict digit.png                       by the weights that `tutti train` left
  tutti predict my.toml t10k-images-idx3-ubyte
  tutti predict --weights runs/my/checkpoint a.png b.png)");
  return [options] { return run_predict(*options); };
}

}  // namespace

const Command predict_command{"predict", "classes of images, or numbers predicted from numbers",
                              add_predict};

}  // namespace tutti::cli
