// SPDX-License-Identifier: Apache-2.0
#include "cli/sample_files.h"

#include "tutti/data/csv.h"
#include "tutti/data/gzip.h"
#include "tutti/data/idx.h"
#include "tutti/data/npy.h"
#include "tutti/train/predict.h"

namespace tutti::cli {
namespace {

using Append = void (*)(const Job& job, const TrainedNetwork& network, const std::string& path,
                        SampleFiles& samples);

void check_shape(const Shape& found, const Shape& wanted, const std::string& path) {
  if (found != wanted)
    throw Error("{} holds samples of {}, but the network was trained on {}", path, to_string(found),
                to_string(wanted));
}

// The samples of a file of feature vectors, scaled as in training.
std::vector<float> features_of(const TrainedNetwork& network, const data::IdxFile& file,
                               const std::string& path) {
  const Shape& wanted = network.sample_shape();
  check_shape(data::idx_sample_shape(file), wanted, path);
  const data::ByteScaling scaled(network.scaling, wanted);
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

void append(const std::vector<float>& x, std::int64_t count, const std::string& path,
            SampleFiles& samples) {
  samples.x.insert(samples.x.end(), x.begin(), x.end());
  for (std::int64_t i = 0; i < count; ++i) samples.places.push_back({path, i});
}

void append_idx(const Job& job, const TrainedNetwork& network, const std::string& path,
                SampleFiles& samples) {
  const data::IdxFile file = data::open_idx_images(path);
  const bool features = file.shape().size() == 2 || network.sample_shape().size() != 3;
  append(features ? features_of(network, file, path) : samples_of(job, network, images_of(file)),
         file.shape()[0], path, samples);
}

void append_image(const Job& job, const TrainedNetwork& network, const std::string& path,
                  SampleFiles& samples) {
  const Shape& wanted = network.sample_shape();
  if (wanted.size() != 3 || (wanted[0] != 1 && wanted[0] != 3))
    throw Error("{} is an image, but the network was trained on samples of {}", path,
                to_string(wanted));
  const std::vector<float> x = samples_of(
      job, network, {data::read_image(path, wanted[0], wanted[1], wanted[2], fit_of(job))});
  samples.x.insert(samples.x.end(), x.begin(), x.end());
  samples.places.push_back({path});
}

// Numbers of a file, scaled as in training.
std::vector<float> scaled(const TrainedNetwork& network, const std::vector<double>& values) {
  const std::int64_t per_sample = elements(network.sample_shape()),
                     plane = per_sample / network.sample_shape()[0];
  std::vector<float> x;
  for (std::size_t i = 0; i < values.size(); ++i)
    x.push_back(network.scaling(values[i], static_cast<std::int64_t>(i) % per_sample / plane));
  return x;
}

void append_npy(const Job&, const TrainedNetwork& network, const std::string& path,
                SampleFiles& samples) {
  const data::NpyFile file(path);
  check_shape(data::npy_sample_shape(file, path), network.sample_shape(), path);
  std::vector<double> values(static_cast<std::size_t>(elements(file.shape())));
  file.visit([&](auto array) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(array[static_cast<std::int64_t>(i)]);
  });
  append(scaled(network, values), file.shape()[0], path, samples);
}

void append_csv(const Job& job, const TrainedNetwork& network, const std::string& path,
                SampleFiles& samples) {
  const Settings& settings = job.table("data");
  const data::CsvTable table(path, data::csv_format(settings));
  append(data::csv_inputs(table, settings, network.scaling, network.sample_shape()[0]),
         table.rows(), path, samples);
}

// The function that reads the file, chosen by its first bytes.
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

}  // namespace

std::string name_of(const SampleFiles::Place& place) {
  return place.index < 0 ? place.file : fmt::format("{}[{}]", place.file, place.index);
}

void append_samples(const Job& job, const TrainedNetwork& network, const std::string& path,
                    SampleFiles& samples) {
  reader_of(job, path)(job, network, path, samples);
}

}  // namespace tutti::cli
