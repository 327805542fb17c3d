// SPDX-License-Identifier: Apache-2.0
// Opening lists the files; an image is decoded when it is read, by whichever thread reads it. As
// many decoded images as the cache has room for are kept: always the first ones, since with samples
// in random order no other choice hits more often.
#include "tutti/data/image_folder.h"

#include "tutti/data/augment.h"
#include "tutti/data/image.h"
#include "tutti/data/split.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <system_error>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

struct ImageFile {
  fs::path path;
  std::int32_t label = 0;
};

// What is in a folder, sorted by name; hidden entries are left out.
std::vector<fs::directory_entry> entries_of(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed))
    if (!entry->path().filename().string().starts_with(".")) entries.push_back(*entry);
  if (failed)
    throw Error("cannot read the folder {}: {}; set 'folder' to a folder of class folders",
                folder.string(), failed.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<fs::path> class_folders(const fs::path& folder) {
  std::vector<fs::path> classes;
  for (const fs::directory_entry& entry : entries_of(folder))
    if (entry.is_directory()) classes.push_back(entry.path());
  if (classes.empty())
    throw Error("{} holds no class folders, expected one folder of images for each class",
                folder.string());
  return classes;
}

std::vector<ImageFile> images_in(const std::vector<fs::path>& classes) {
  std::vector<ImageFile> images;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const std::size_t before = images.size();
    for (const fs::directory_entry& entry : entries_of(classes[label]))
      if (has_image_name(entry.path()))
        images.push_back({entry.path(), static_cast<std::int32_t>(label)});
    if (images.size() == before)
      throw Error("{} holds no .png, .jpg or .jpeg file, expected images of its class",
                  classes[label].string());
  }
  return images;
}

std::vector<std::string> names_of(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) names.push_back(folder.filename().string());
  return names;
}

// FOLDER/test or FOLDER/val; empty when there is neither.
fs::path test_folder(const fs::path& folder) {
  for (const char* name : {"test", "val"})
    if (fs::is_directory(folder / name)) return folder / name;
  return {};
}

// Test classes are the training classes, so that labels mean the same.
void require_same_classes(const fs::path& train, const fs::path& test) {
  const std::vector<std::string> known = names_of(class_folders(train)),
                                 found = names_of(class_folders(test));
  for (const std::string& name : found)
    if (!std::binary_search(known.begin(), known.end(), name))
      throw Error("{} is a class that {} does not have", (test / name).string(), train.string());
  if (found.size() != known.size())
    throw Error("{} has {} classes but {} has {}, expected the same", test.string(), found.size(),
                train.string(), known.size());
}

struct Listing {
  std::vector<ImageFile> images;
  std::vector<std::string> class_names;
};

Listing list_images(const Settings& settings, Split split) {
  const fs::path folder = settings.text("folder");
  const fs::path train = folder / "train", test = test_folder(folder);
  if (fs::is_directory(train) && !test.empty()) {
    require_same_classes(train, test);
    const std::vector<fs::path> classes = class_folders(split == Split::train ? train : test);
    return {images_in(classes), names_of(classes)};
  }
  const std::vector<fs::path> classes = class_folders(fs::is_directory(train) ? train : folder);
  const std::vector<ImageFile> all = images_in(classes);
  Listing listing{{}, names_of(classes)};
  for (const std::int64_t member :
       members_of(static_cast<std::int64_t>(all.size()), settings, split))
    listing.images.push_back(all[static_cast<std::size_t>(member)]);
  return listing;
}

class ImageFolder : public Dataset {
 public:
  ImageFolder(Listing listing, const Shape& shape, Fit fit, std::int64_t cache_bytes,
              const Scaling& scaled_by)
      : images_(std::move(listing.images)),
        fit_(fit),
        bytes_(elements(shape)),
        cached_(std::min(static_cast<std::int64_t>(images_.size()), cache_bytes / bytes_)),
        // Not cleared: memory is taken as images come.
        cache_(new std::uint8_t[static_cast<std::size_t>(cached_ * bytes_)]),
        states_(static_cast<std::size_t>(cached_)),
        scaled_(scaled_by, shape) {
    name = "folder";
    count = static_cast<std::int64_t>(images_.size());
    fields = input_and_labels(shape);
    class_names = std::move(listing.class_names);
    classes = static_cast<std::int64_t>(class_names.size());
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    auto* labels = static_cast<std::int32_t*>(into.fields[1]);
    dispatch_float(into.dtype, [&](auto zero) {
      auto* x = static_cast<decltype(zero)*>(into.fields[0]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        if (x != nullptr) x = read_image_at(indices[i], x);
        if (labels != nullptr) labels[i] = images_[static_cast<std::size_t>(indices[i])].label;
      }
    });
  }

 private:
  enum State : std::uint8_t { absent, being_written, present };

  template <class T>
  T* read_image_at(std::int64_t index, T* x) const {
    if (index >= cached_) return scaled_.scale(decode(index).pixels.data(), x);
    std::atomic<std::uint8_t>& state = states_[static_cast<std::size_t>(index)];
    std::uint8_t* kept = cache_.get() + index * bytes_;
    if (state.load(std::memory_order_acquire) == present) return scaled_.scale(kept, x);
    const Image image = decode(index);
    // Of several threads that decode the same image, one writes it into the cache.
    if (std::uint8_t expected = absent; state.compare_exchange_strong(expected, being_written)) {
      std::copy(image.pixels.begin(), image.pixels.end(), kept);
      state.store(present, std::memory_order_release);
    }
    return scaled_.scale(image.pixels.data(), x);
  }

  Image decode(std::int64_t index) const {
    const Shape& shape = sample_shape();
    return read_image(images_[static_cast<std::size_t>(index)].path, shape[0], shape[1], shape[2],
                      fit_);
  }

  std::vector<ImageFile> images_;
  Fit fit_;
  std::int64_t bytes_, cached_;  // bytes of an image; images that the cache has room for
  std::unique_ptr<std::uint8_t[]> cache_;
  mutable std::vector<std::atomic<std::uint8_t>> states_;
  ByteScaling scaled_;
};

Shape shape_of(const Settings& settings) {
  const std::vector<std::int64_t>& size = settings.integers("size");
  if (size.size() != 1 && size.size() != 2)
    throw Error("'size' has {} numbers, expected height and width, or one for both", size.size());
  return {settings.text("colour") == "gray" ? 1 : 3, size.front(), size.back()};
}

std::unique_ptr<Dataset> open_folder(const Settings& settings, Split split) {
  return open_scaled(settings, split, [&](Split part, const Scaling& scaling) {
    return std::make_unique<ImageFolder>(list_images(settings, part), shape_of(settings),
                                         fit_named(settings.text("fit")), settings.integer("cache"),
                                         scaling);
  });
}

}  // namespace

DatasetEntry image_folder() {
  const std::vector<Setting> own = {
      {.name = "folder",
       .initial = std::string(),
       .doc = "holds train/CLASS/ and test/CLASS/ (or val/CLASS/), or CLASS/ alone",
       .required = true},
      {.name = "size",
       .initial = std::vector<std::int64_t>{224},
       .doc = "height and width of the samples, or one number for both",
       .min = 1,
       .max = 8192},
      {.name = "fit",
       .initial = std::string("crop"),
       .doc = "how images get this size; crop: the shorter side is resized and the centre taken",
       .choices = {"crop", "stretch"}},
      {.name = "colour",
       .initial = std::string("rgb"),
       .doc = "rgb: 3 channels; gray: 1",
       .choices = {"rgb", "gray"}},
      {.name = "cache",
       .initial = std::int64_t{1} << 30,
       .doc = "bytes of memory, for each part, that decoded images are kept in",
       .min = 0,
       .max = 1e15}};
  return {.name = "folder",
          .doc = "PNG and JPEG images in a folder for each class; classes are sorted by name",
          .settings = joined(
              {own, split_settings(), scaling_settings({0.45}, {0.25}), augmentation_settings()}),
          .open = open_folder};
}

}  // namespace tutti::data
