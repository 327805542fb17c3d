// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/idx_dataset.h"

#include "tutti/data/augment.h"
#include "tutti/data/folder.h"
#include "tutti/data/idx.h"
#include "tutti/data/scaling.h"

#include <filesystem>
#include <system_error>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

class IdxDataset : public Dataset {
 public:
  IdxDataset(std::string called, const fs::path& images, const fs::path& labels,
             std::int64_t class_count, const Scaling& scaled_by)
      : images_(open_idx_images(images)),
        labels_(open_idx_labels(labels, images_.shape()[0], class_count, images)),
        scaled_(scaled_by, idx_sample_shape(images_)) {
    name = std::move(called);
    count = images_.shape()[0];
    fields = input_and_labels(idx_sample_shape(images_));
    classes = class_count;
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    const std::int64_t per_sample = elements(sample_shape());
    auto* labels = static_cast<std::int32_t*>(into.fields[1]);
    dispatch_float(into.dtype, [&](auto zero) {
      auto* x = static_cast<decltype(zero)*>(into.fields[0]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        const std::uint8_t* pixels = images_.values().data() + indices[i] * per_sample;
        if (x != nullptr) x = scaled_.scale(pixels, x);
        if (labels != nullptr) labels[i] = labels_.values()[indices[i]];
      }
    });
  }

 private:
  IdxFile images_, labels_;
  ByteScaling scaled_;
};

std::unique_ptr<Dataset> open_idx(const Settings& settings, Split split, const Scaling& scaling) {
  const bool test = split == Split::test;
  const std::string& images = settings.text(test ? "test_images" : "images");
  const std::string& labels = settings.text(test ? "test_labels" : "labels");
  if (images.empty() || labels.empty())
    throw Error("data set idx: no {} files; set '{}' and '{}' to the paths of IDX files",
                test ? "test" : "training", test ? "test_images" : "images",
                test ? "test_labels" : "labels");
  return std::make_unique<IdxDataset>("idx", images, labels, settings.integer("classes"), scaling);
}

// The file called `stem` in `folder`, or its gzip'd form.
fs::path mnist_file(const fs::path& folder, const std::string& stem) {
  std::error_code unreadable;  // counts as missing
  for (const fs::path& path : {folder / stem, folder / (stem + ".gz")})
    if (fs::exists(path, unreadable)) return path;
  throw Error(
      "MNIST is not there: {} is missing; run 'tutti data get mnist', or put the four IDX "
      "files (gzip'd or not) into {}",
      (folder / stem).string(), folder.string());
}

std::unique_ptr<Dataset> open_mnist(const Settings& settings, Split split, const Scaling& scaling) {
  const std::string& given = settings.text("folder");
  const fs::path folder = given.empty() ? mnist_folder() : fs::path(given);
  const std::string part = split == Split::train ? "train" : "t10k";
  const fs::path images = mnist_file(folder, part + "-images-idx3-ubyte");
  const fs::path labels = mnist_file(folder, part + "-labels-idx1-ubyte");
  return std::make_unique<IdxDataset>("mnist", images, labels, 10, scaling);
}

template <auto open>
std::unique_ptr<Dataset> scaled(const Settings& settings, Split split) {
  return open_scaled(settings, split, [&](Split part, const Scaling& scaling) {
    return open(settings, part, scaling);
  });
}

std::vector<Setting> of_images(const std::vector<Setting>& own, double mean, double std) {
  return joined({own, scaling_settings({mean}, {std}), augmentation_settings()});
}

Setting idx_path(std::string name, std::string doc, bool required) {
  return {.name = std::move(name),
          .initial = std::string(),
          .doc = std::move(doc),
          .required = required};
}

}  // namespace

DatasetEntry idx() {
  const Setting classes = {.name = "classes",
                           .initial = std::int64_t{10},
                           .doc = "number of classes; labels are below it",
                           .min = 1,
                           .max = 256};
  return {
      .name = "idx",
      .doc = "images and labels in IDX files, gzip'd or not",
      .settings = of_images({idx_path("images", "IDX file of training images", true),
                             idx_path("labels", "IDX file of training labels", true),
                             idx_path("test_images", "IDX file of test images", false),
                             idx_path("test_labels", "IDX file of test labels", false), classes},
                            0, 1),
      .open = scaled<open_idx>};
}

DatasetEntry mnist() {
  return {.name = "mnist",
          .doc =
              "70,000 handwritten digits of 28×28, 60,000 for training; fetched by 'tutti data "
              "get mnist'",
          .settings = of_images(
              {idx_path("folder", "where the four IDX files are; empty: the data folder", false)},
              0.1307, 0.3081),
          .open = scaled<open_mnist>};
}

}  // namespace tutti::data
