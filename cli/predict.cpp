// SPDX-License-Identifier: Apache-2.0
// tutti predict: what trained weights say about images in PNG or IDX files, a line for each.
#include "tutti/train/predict.h"

#include "cli/commands.h"
#include "cli/job_options.h"
#include "tutti/data/idx.h"
#include "tutti/data/scaling.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

namespace tutti::cli {
namespace {

struct Options {
  JobOptions job;
  std::vector<std::string> files;  // a recipe may come first
};

// Samples as the network wants them and what to call each.
struct Input {
  std::vector<float> x = {};
  std::vector<std::string> names = {};
};

bool is_png(const std::string& path) {
  constexpr std::array<char, 4> signature = {'\x89', 'P', 'N', 'G'};
  std::array<char, 4> begin = {};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read {}: {}", path, std::strerror(errno));
  file.read(begin.data(), begin.size());
  if (begin == signature) return true;
  const bool gzip = begin[0] == '\x1f' && begin[1] == '\x8b',
             zeros = begin[0] == 0 && begin[1] == 0;
  if (!gzip && !zeros) throw Error("{}: expected a PNG image or an IDX file (gzip'd or not)", path);
  return false;
}

// Vectors of features are scaled as in training; there is nothing to resize.
std::vector<float> features_of(const Job& job, const data::IdxFile& file, const Shape& wanted,
                               const std::string& path) {
  const Shape found = data::idx_sample_shape(file);
  if (found != wanted)
    throw Error("{} holds samples of {}, but the network was trained on {}", path, to_string(found),
                to_string(wanted));
  const Settings& settings = job.table("data");
  const data::Scaling scaling = settings.has("mean") ? data::scaling_of(settings) : data::Scaling();
  std::vector<float> x;
  for (const std::uint8_t value : file.values()) x.push_back(scaling(value / 255.0));
  return x;
}

std::vector<data::Image> images_of(const data::IdxFile& file) {
  const Shape shape = data::idx_sample_shape(file);
  const auto pixels = static_cast<std::size_t>(elements(shape));
  std::vector<data::Image> images;
  for (std::size_t first = 0; first < file.values().size(); first += pixels) {
    data::Image& image =
        images.emplace_back(data::Image{shape[0], shape[1], shape[2], std::vector<float>(pixels)});
    std::transform(file.values().begin() + static_cast<std::ptrdiff_t>(first),
                   file.values().begin() + static_cast<std::ptrdiff_t>(first + pixels),
                   image.pixels.begin(), [](std::uint8_t value) { return value / 255.0F; });
  }
  return images;
}

void append_idx(const Job& job, const std::string& weights, const Shape& wanted,
                const std::string& path, Input& input) {
  const data::IdxFile file = data::open_idx_images(path);
  const bool features = file.shape().size() == 2 || wanted.size() != 3;
  const std::vector<float> x =
      features ? features_of(job, file, wanted, path) : samples_of(job, weights, images_of(file));
  input.x.insert(input.x.end(), x.begin(), x.end());
  for (std::int64_t i = 0; i < file.shape()[0]; ++i)
    input.names.push_back(fmt::format("{}[{}]", path, i));
}

void append_png(const Job& job, const std::string& weights, const Shape& wanted,
                const std::string& path, Input& input) {
  if (wanted.size() != 3 || (wanted[0] != 1 && wanted[0] != 3))
    throw Error("{} is an image, but the network was trained on samples of {}", path,
                to_string(wanted));
  const std::vector<float> x = samples_of(job, weights, {data::read_png(path, wanted[0])});
  input.x.insert(input.x.end(), x.begin(), x.end());
  input.names.push_back(path);
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

int run(Options options) {
  if (options.files[0].ends_with(".toml")) {
    options.job.recipe = options.files[0];
    options.files.erase(options.files.begin());
  }
  if (options.files.empty()) throw UsageError("predict: which images? Name PNG or IDX files");
  const Job job = trained_job(options.job);
  const Shape wanted = trained_input(job, options.job.weights).sample_shape;
  Input input;
  for (const std::string& path : options.files)
    (is_png(path) ? append_png : append_idx)(job, options.job.weights, wanted, path, input);
  print(input, predict(job, options.job.weights, input.x));
  return 0;
}

std::function<int()> add(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("files", options->files, "[recipe.toml] and images: PNG or IDX files")
      ->type_name("FILE")
      ->required();
  add_weights(app, options->job);
  add_changes(app, options->job);
  app.footer(
      R"(Prints a line per image: file (and index in it), class and its probability, separated by tabs; for
regression the predicted numbers. PNG images are resized to what the network was trained on.

Examples:
  tutti predict digit.png                       by the weights that `tutti train` left
  tutti predict my.toml t10k-images-idx3-ubyte
  tutti predict --weights runs/my/checkpoint a.png b.png)");
  return [options] { return run(*options); };
}

}  // namespace

const Command predict_command{"predict", "classes of images in PNG or IDX files", add};

}  // namespace tutti::cli
