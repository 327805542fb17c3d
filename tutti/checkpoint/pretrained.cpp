// SPDX-License-Identifier: Apache-2.0
#include "tutti/checkpoint/pretrained.h"

#include "tutti/checkpoint/safetensors.h"
#include "tutti/core/bf16.h"
#include "tutti/core/half.h"

#include <cstring>
#include <filesystem>
#include <map>

namespace tutti {
namespace {

// A tensor of the file, of whatever type.
struct Found {
  std::string type;
  Shape shape;
  const std::byte* data = nullptr;
  bool used = false;
};

std::map<std::string, Found> tensors_of(const SafetensorsFile& file) {
  std::map<std::string, Found> found;
  for (const auto& [name, tensor] : file.tensors)
    found[name] = {std::string(name_of(tensor.dtype)), tensor.shape,
                   static_cast<const std::byte*>(tensor.data)};
  for (const ForeignTensor& tensor : file.foreign)
    found[tensor.name] = {tensor.type, tensor.shape, tensor.data};
  return found;
}

bool is_real(const std::string& type) {
  return type == "f32" || type == "f64" || type == "F16" || type == "BF16";
}

// Element i of a tensor whose place in the file may have any alignment.
template <class T>
T element(const std::byte* data, std::int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

template <class To, class Element>
void fill(To* to, std::int64_t count, const Element& element_at) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(element_at(i));
}

void copy(const Found& tensor, const Range& range, DType dtype, void* flat) {
  const std::byte* data = tensor.data;
  dispatch_float(dtype, [&](auto zero) {
    auto* to = static_cast<decltype(zero)*>(flat) + range.offset;
    if (tensor.type == "f32")
      fill(to, range.count, [&](std::int64_t i) { return element<float>(data, i); });
    else if (tensor.type == "f64")
      fill(to, range.count, [&](std::int64_t i) { return element<double>(data, i); });
    else if (tensor.type == "BF16")
      fill(to, range.count, [&](std::int64_t i) -> float { return element<Bf16>(data, i); });
    else
      fill(to, range.count,
           [&](std::int64_t i) { return float_of_half(element<std::uint16_t>(data, i)); });
  });
}

// Counts names, and keeps the first few as a text.
class Names {
 public:
  void add(const std::string& name) {
    if (++count_ <= most) text_ += (count_ > 1 ? ", " : "") + name;
  }
  int count() const { return count_; }
  std::string text() const { return count_ > most ? fmt::format("{} …", text_) : text_; }

 private:
  static constexpr int most = 5;
  int count_ = 0;
  std::string text_;
};

std::string path_of(const std::string& given) {
  const std::string path = given.ends_with(".safetensors") ? given : given + ".safetensors";
  if (!std::filesystem::exists(path))
    throw Error("train.from: there is no file {}, expected weights to begin from", path);
  return path;
}

}  // namespace

std::vector<std::string> load_matching(const std::string& path, DType dtype,
                                       const std::vector<HostVector>& into) {
  const SafetensorsFile file = read_safetensors(path_of(path), ForeignTypes::kept);
  std::map<std::string, Found> tensors = tensors_of(file);
  Names missing, other, unused;
  int loaded = 0;
  for (const HostVector& vector : into)
    for (const Range& range : vector.table->ranges) {
      const auto found = tensors.find(range.name);
      if (found == tensors.end()) {
        missing.add(range.name);
        continue;
      }
      Found& tensor = found->second;
      tensor.used = true;
      if (tensor.shape == range.shape && is_real(tensor.type)) {
        copy(tensor, range, dtype, vector.values);
        ++loaded;
      } else {
        other.add(fmt::format("{} ({} {} there, {} here)", range.name, tensor.type,
                              to_string(tensor.shape), to_string(range.shape)));
      }
    }
  for (const auto& [name, tensor] : tensors)
    if (!tensor.used) unused.add(name);
  const int wanted = loaded + missing.count() + other.count();
  if (loaded == 0)
    throw Error(
        "train.from: no tensor of {} has the name and the shape of one of this network's; it has "
        "{}; {}",
        file.path,
        tensors.empty()      ? "none"
        : unused.count() > 0 ? unused.text()
                             : other.text(),
        missing.count() > 0 ? "expected " + missing.text() : "all have other shapes here");
  std::vector<std::string> lines = {
      fmt::format("began from {}: {} of {} tensors loaded", file.path, loaded, wanted)};
  const auto tell = [&](const Names& names, const char* what) {
    if (names.count() > 0)
      lines.push_back(fmt::format("{} {}: {}", names.count(), what, names.text()));
  };
  tell(other, "of another shape or type, initialised instead");
  tell(missing, "not in that file, initialised instead");
  tell(unused, "of that file not used");
  return lines;
}

}  // namespace tutti
