// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/cifar.h"

#include "tutti/data/augment.h"
#include "tutti/data/folder.h"
#include "tutti/data/mapped_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t pixel_bytes = std::int64_t{3} * 32 * 32;

// The differences between CIFAR-10 and CIFAR-100.
struct Format {
  std::string name;                // "cifar10"; also the name of its folder
  std::string title;               // "CIFAR-10"
  std::string archive_folder;      // the folder that its archive unpacks to
  std::vector<std::string> train;  // files of the training part
  std::string test;
  std::vector<std::int64_t> classes;  // number of classes of each label byte of a record
  std::vector<std::string> class_names = {};
  // The file with the class names of each label byte. It lies beside the records, and may be
  // missing.
  std::vector<std::string> name_files = {};
};

const Format ten{
    "cifar10",
    "CIFAR-10",
    "cifar-10-batches-bin",
    {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
     "data_batch_5.bin"},
    "test_batch.bin",
    {10},
    {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}};
const Format hundred{"cifar100",
                     "CIFAR-100",
                     "cifar-100-binary",
                     {"train.bin"},
                     "test.bin",
                     {20, 100},
                     {},
                     {"coarse_label_names.txt", "fine_label_names.txt"}};

std::int64_t record_bytes(const Format& format) {
  return static_cast<std::int64_t>(format.classes.size()) + pixel_bytes;
}

// Opens a file of records; checks its length and every label.
MappedFile open_records(const Format& format, const fs::path& path) {
  MappedFile file(path);
  const auto bytes = file.bytes();
  const std::int64_t record = record_bytes(format), found = static_cast<std::int64_t>(bytes.size());
  if (found == 0 || found % record != 0)
    throw Error(
        "{}: the file has {} bytes, expected a multiple of {} ({} label bytes and 3×32×32 "
        "pixels); it is cut off or no file of {}",
        path.string(), found, record, format.classes.size(), format.title);
  for (std::int64_t i = 0; i < found / record; ++i)
    for (std::size_t k = 0; k < format.classes.size(); ++k)
      if (const int label = bytes[i * record + static_cast<std::int64_t>(k)];
          label >= format.classes[k])
        throw Error("{}: label {} in record {}, expected 0 to {}; the file is damaged",
                    path.string(), label, i, format.classes[k] - 1);
  return file;
}

// The class names in a file, one on each line; empty when there is no such file.
std::vector<std::string> names_in(const fs::path& path, std::int64_t classes) {
  std::ifstream file(path);
  std::vector<std::string> names;
  for (std::string name; std::getline(file, name);)
    if (!name.empty()) names.push_back(name);
  if (file.is_open() && static_cast<std::int64_t>(names.size()) != classes)
    throw Error("{}: the file has {} names, expected {}; it is damaged", path.string(),
                names.size(), classes);
  return names;
}

class Cifar : public Dataset {
 public:
  Cifar(const Format& format, const fs::path& folder, const std::vector<std::string>& files,
        std::size_t label_byte, const Scaling& scaled_by)
      : record_(record_bytes(format)),
        label_byte_(static_cast<std::int64_t>(label_byte)),
        scaled_(scaled_by, {3, 32, 32}) {
    name = format.name;
    fields = input_and_labels({3, 32, 32});
    classes = format.classes[label_byte];
    class_names = format.name_files.empty()
                      ? format.class_names
                      : names_in(folder / format.name_files[label_byte], classes);
    for (const std::string& file : files) {
      files_.push_back(open_records(format, folder / file));
      count += static_cast<std::int64_t>(files_.back().bytes().size()) / record_;
      ends_.push_back(count);
    }
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    auto* labels = static_cast<std::int32_t*>(into.fields[1]);
    dispatch_float(into.dtype, [&](auto zero) {
      auto* x = static_cast<decltype(zero)*>(into.fields[0]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        const std::uint8_t* record = record_at(indices[i]);
        if (x != nullptr) x = scaled_.scale(record + record_ - pixel_bytes, x);
        if (labels != nullptr) labels[i] = record[label_byte_];
      }
    });
  }

 private:
  const std::uint8_t* record_at(std::int64_t index) const {
    check(index >= 0 && index < count, "a sample index lies inside the data set");
    std::size_t file = 0;
    while (index >= ends_[file]) ++file;
    const std::int64_t first = file == 0 ? 0 : ends_[file - 1];
    return files_[file].bytes().data() + (index - first) * record_;
  }

  std::int64_t record_, label_byte_;
  ByteScaling scaled_;
  std::vector<MappedFile> files_;
  std::vector<std::int64_t> ends_;  // samples up to the end of each file
};

// The folder with the files: the one that is set, else one in the data folder; or the archive's
// folder inside it.
fs::path folder_of(const Format& format, const Settings& settings, const std::string& first) {
  const std::string& given = settings.text("folder");
  const fs::path folder = given.empty() ? data_folder() / format.name : fs::path(given);
  std::error_code unreadable;  // counts as missing
  for (const fs::path& place : {folder, folder / format.archive_folder})
    if (fs::exists(place / first, unreadable)) return place;
  throw Error(
      "{} is not there: {} is missing; {}put the files of its binary version ({}, {}) into {}",
      format.title, (folder / first).string(),
      format.name == "cifar10" ? "run 'tutti data get cifar10', or " : "",
      format.train.size() == 1 ? format.train[0] : "data_batch_1.bin to data_batch_5.bin",
      format.test, folder.string());
}

std::unique_ptr<Dataset> open_cifar(const Format& format, const Settings& settings, Split split,
                                    std::size_t label_byte) {
  return open_scaled(settings, split, [&](Split part, const Scaling& scaling) {
    const std::vector<std::string> files =
        part == Split::train ? format.train : std::vector{format.test};
    return std::make_unique<Cifar>(format, folder_of(format, settings, files[0]), files, label_byte,
                                   scaling);
  });
}

std::vector<Setting> settings_of(const Format& format, std::vector<double> mean,
                                 std::vector<double> std) {
  const Setting folder{
      .name = "folder",
      .initial = std::string(),
      .doc = fmt::format("where the .bin files or the folder {} are; empty: the data folder",
                         format.archive_folder)};
  return joined(
      {{folder}, scaling_settings(std::move(mean), std::move(std)), augmentation_settings()});
}

}  // namespace

DatasetEntry cifar10() {
  return {.name = ten.name,
          .doc =
              "60,000 colour images of 32×32 in 10 classes, 50,000 for training; fetched by 'tutti "
              "data get cifar10'",
          .settings = settings_of(ten, {0.4914, 0.4822, 0.4465}, {0.2470, 0.2435, 0.2616}),
          .open = [](const Settings& settings, Split split) {
            return open_cifar(ten, settings, split, 0);
          }};
}

DatasetEntry cifar100() {
  std::vector<Setting> settings =
      settings_of(hundred, {0.5071, 0.4865, 0.4409}, {0.2673, 0.2564, 0.2762});
  settings.push_back({.name = "label",
                      .initial = std::string("fine"),
                      .doc = "which label is learnt: 100 fine or 20 coarse classes",
                      .choices = {"fine", "coarse"}});
  return {.name = hundred.name,
          .doc =
              "60,000 colour images of 32×32 in 100 classes, 50,000 for training; put train.bin "
              "and test.bin of its binary version into the data folder",
          .settings = std::move(settings),
          .open = [](const Settings& given, Split split) {
            return open_cifar(hundred, given, split, given.text("label") == "fine" ? 1 : 0);
          }};
}

}  // namespace tutti::data
