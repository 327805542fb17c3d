// SPDX-License-Identifier: Apache-2.0
#include "bench/data.h"

#include "tutti/data/augment.h"
#include "tutti/data/dataset.h"
#include "tutti/data/sampler.h"

#include <filesystem>
#include <fstream>

namespace tutti::bench {
namespace {

constexpr std::int64_t images = 10000, batch = 128;

// A file in CIFAR's format, removed at the end: all pixels of image i are i modulo 256.
class ImageFile {
 public:
  ImageFile() : folder_(std::filesystem::temp_directory_path() / "tutti_bench_data") {
    std::filesystem::create_directories(folder_);
    std::ofstream file(folder_ / "test_batch.bin", std::ios::binary);
    for (std::int64_t i = 0; i < images; ++i) {
      file.put(static_cast<char>(i % 10));
      file << std::string(3072, static_cast<char>(i % 256));
    }
  }
  ~ImageFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  std::unique_ptr<data::Dataset> open() const {
    const data::DatasetEntry entry = data::datasets().find("cifar10");
    const Settings settings =
        resolve(entry.settings, {{"folder", folder_.string()}, {"mean", 0.0}, {"std", 1.0}}, "");
    return entry.open(settings, data::Split::test);
  }

 private:
  std::filesystem::path folder_;
};

// Every input is its image's shade, or 0 where augmentation has shifted or hidden something.
void check_batch(const std::vector<std::int64_t>& indices, const std::vector<float>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float shade = static_cast<float>(static_cast<double>(indices[i / 3072] % 256) / 255);
    if (x[i] != shade && x[i] != 0) throw Error("data: an input is {}, expected {}", x[i], shade);
  }
}

Spread time_batches(const data::Dataset& dataset, const data::Augmentation& augmentation,
                    const Options& options) {
  const data::Sampler sampler({.count = images, .batch = batch, .seed = 1});
  std::vector<std::int64_t> indices(static_cast<std::size_t>(batch));
  std::vector<float> x(static_cast<std::size_t>(batch) * 3072);
  std::vector<std::int32_t> labels(indices.size());
  std::vector<double> samples;
  const double began = now_ms();
  for (std::int64_t step = 0; step < options.repeats || now_ms() - began < options.round_ms();
       ++step) {
    const double started = now_ms();
    sampler.indices(step % (images / batch), {0, batch}, indices);
    dataset.read(indices, {.fields = {x.data(), labels.data()}});
    if (augmentation.any())
      for (std::int64_t i = 0; i < batch; ++i)
        augment(augmentation, data::augmentation_key(1, 0), indices[i], dataset.sample_shape(),
                DType::f32, x.data() + i * 3072);
    samples.push_back(now_ms() - started);
    if (step == 0) check_batch(indices, x);
  }
  return spread_of(std::move(samples));
}

}  // namespace

void bench_data(const Options& options, Records& records) {
  const std::string plain = "data/cifar10 batch 128", augmented = plain + " flip crop cutout";
  if (!options.wants(plain) && !options.wants(augmented)) return;
  const ImageFile file;
  const auto dataset = file.open();
  const auto measure = [&](const std::string& name, const data::Augmentation& augmentation) {
    if (!options.wants(name)) return;
    const Spread ms = time_batches(*dataset, augmentation, options);
    records.time(name, ms, {.bytes = batch * 3072 * 5.0}, {}, 0,
                 {{"images_per_second", 1e3 * batch / ms.median}});
  };
  measure(plain, {});
  measure(augmented, {.flip = true, .crop = 4, .cutout = 8});
}

}  // namespace tutti::bench
