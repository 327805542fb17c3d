// SPDX-License-Identifier: Apache-2.0
#include "tutti/checkpoint/safetensors.h"

#include "tutti/core/error.h"
#include "tutti/core/output_file.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "the format is little-endian");

// A file of ours begins its header with this, followed by the checksum: eight digits that count as
// zeros when the checksum is computed.
constexpr std::string_view checksum_prefix = "{\"__metadata__\":{\"crc32\":\"";
constexpr std::string_view no_checksum = "00000000";
constexpr std::int64_t longest_header = 100'000'000;  // bytes, as the format's own reader limits it

struct TypeName {
  DType type;
  const char* name;
};
constexpr TypeName type_names[] = {{DType::f32, "F32"},
                                   {DType::f64, "F64"},
                                   {DType::i32, "I32"},
                                   {DType::u8, "U8"},
                                   {DType::i8, "I8"}};

const char* format_name(DType type) {
  for (const TypeName& entry : type_names)
    if (entry.type == type) return entry.name;
  check(false, "every data type has a name in the format");
  return "";
}

std::optional<DType> type_named(std::string_view name) {
  for (const TypeName& entry : type_names)
    if (entry.name == name) return entry.type;
  return std::nullopt;
}

class Crc {
 public:
  void add(const void* data, std::size_t bytes) {
    value_ = crc32_z(value_, static_cast<const Bytef*>(data), bytes);
  }
  std::string text() const { return fmt::format("{:08x}", value_); }

 private:
  uLong value_ = 0;
};

std::string header_of(const std::vector<NamedTensor>& tensors, const Metadata& metadata) {
  check(!metadata.contains("crc32"), "the checksum is written by write_safetensors");
  Json header;
  header["__metadata__"]["crc32"] = no_checksum;
  for (const auto& [key, value] : metadata) header["__metadata__"][key] = value;
  std::int64_t begin = 0;
  for (const auto& [name, tensor] : tensors) {
    check(name != "__metadata__" && !header.contains(name), "tensors have different names");
    const std::int64_t end = begin + tensor.bytes();
    header[name] = {{"dtype", format_name(tensor.dtype)},
                    {"shape", tensor.shape},
                    {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  check(text.starts_with(checksum_prefix), "the checksum comes first");
  return text;
}

std::string checksum_of(std::uint64_t header_bytes, std::string header,
                        const std::vector<NamedTensor>& tensors) {
  header.replace(checksum_prefix.size(), no_checksum.size(), no_checksum);
  Crc crc;
  crc.add(&header_bytes, sizeof header_bytes);
  crc.add(header.data(), header.size());
  for (const auto& [name, tensor] : tensors)
    crc.add(tensor.data, static_cast<std::size_t>(tensor.bytes()));
  return crc.text();
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error("{} is damaged or not a safetensors file: {}", path, why);
}

// Bytes of a tensor; nothing when they don't fit in 64 bits.
std::optional<std::int64_t> bytes_of_shape(std::int64_t element_bytes, const Shape& shape) {
  std::int64_t bytes = element_bytes;
  for (std::int64_t extent : shape)
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  return std::find(shape.begin(), shape.end(), 0) == shape.end() ? bytes : 0;
}

// Non-negative integers that fit in 64 bits with a sign.
std::optional<std::vector<std::int64_t>> integers_of(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<std::int64_t> integers;
  for (const Json& element : json) {
    if (!element.is_number_integer() || element.get<std::int64_t>() < 0) return std::nullopt;
    integers.push_back(element.get<std::int64_t>());
  }
  return integers;
}

// A tensor as the header describes it.
struct Entry {
  std::string name, type;
  std::optional<DType> dtype;  // none: a foreign type
  Shape shape;
  std::int64_t begin = 0, end = 0;  // bytes in the data
};

// Bytes of an element of a type, by the format's name of the type; nothing: an unknown type.
std::optional<std::int64_t> element_bytes(const std::string& type) {
  if (const auto own = type_named(type)) return bytes_of(*own);
  if (type == "F16" || type == "BF16") return 2;
  return std::nullopt;
}

Entry entry_of(const std::string& path, const std::string& name, const Json& json,
               ForeignTypes foreign) {
  const auto member = [&](const char* key) {
    return json.is_object() ? json.value(key, Json()) : Json();
  };
  const Json type_member = member("dtype");
  const std::string type = type_member.is_string() ? type_member.get<std::string>() : "";
  const auto dtype = type_named(type);
  if (!dtype && (type.empty() || foreign == ForeignTypes::refused))
    refuse(path, fmt::format("tensor '{}' has dtype {}, expected F32, F64, I32 or U8", name,
                             type_member.dump(-1, ' ', false, Json::error_handler_t::replace)));
  const auto shape = integers_of(member("shape"));
  if (!shape)
    refuse(path, fmt::format("tensor '{}' has no shape, expected a list of extents", name));
  const auto place = integers_of(member("data_offsets"));
  const auto width = element_bytes(type);
  const bool ordered = place && place->size() == 2 && (*place)[0] <= (*place)[1];
  const auto bytes = width ? bytes_of_shape(*width, *shape) : std::nullopt;
  if (!ordered || (width && (!bytes || (*place)[1] - (*place)[0] != *bytes)))
    refuse(path,
           fmt::format("tensor '{}' ({} {}) has data_offsets {}, expected a begin and an end "
                       "that are {} bytes apart",
                       name, dtype ? name_of(*dtype) : type, to_string(*shape),
                       member("data_offsets").dump(), bytes ? fmt::to_string(*bytes) : "too many"));
  return {name, type, dtype, *shape, (*place)[0], (*place)[1]};
}

// The tensors must fill the data exactly, one after the other.
void check_places(const std::string& path, std::vector<Entry>& entries, std::int64_t data_bytes) {
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != end)
      refuse(path, fmt::format("tensor '{}' begins at byte {} of the data, expected {}", entry.name,
                               entry.begin, end));
    end = entry.end;
  }
  if (end != data_bytes)
    refuse(path, fmt::format("its tensors take {} bytes, but it holds {} bytes of data{}", end,
                             data_bytes, data_bytes < end ? " (truncated)" : ""));
}

Metadata metadata_of(const std::string& path, const Json& json) {
  if (!json.is_object()) refuse(path, "__metadata__ is not an object");
  Metadata metadata;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) refuse(path, fmt::format("metadata '{}' is not a string", key));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// The header and the data of a file, not yet parsed.
struct Parts {
  std::uint64_t header_bytes = 0;
  std::string header;
  Buffer data;
};

enum class Wanted { header, all };

Parts read_parts(const std::string& path, Wanted wanted) {
  std::error_code failure;
  const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path, failure));
  std::ifstream file(path, std::ios::binary);
  if (failure || !file)
    throw Error("can't read {}: {}", path, failure ? failure.message() : std::strerror(errno));
  Parts parts;
  if (file_bytes < 8)
    refuse(path, fmt::format("it has {} bytes, expected at least 8 (truncated)", file_bytes));
  file.read(reinterpret_cast<char*>(&parts.header_bytes), 8);
  const std::int64_t limit = std::min(file_bytes - 8, longest_header);
  if (parts.header_bytes > static_cast<std::uint64_t>(limit))
    refuse(path,
           fmt::format("its header should have {} bytes, but at most {} are there (truncated)",
                       parts.header_bytes, limit));
  const auto header_bytes = static_cast<std::int64_t>(parts.header_bytes);
  parts.header.resize(parts.header_bytes);
  file.read(parts.header.data(), header_bytes);
  if (wanted == Wanted::all) {
    parts.data = Buffer(file_bytes - 8 - header_bytes);
    file.read(reinterpret_cast<char*>(parts.data.data()), parts.data.bytes());
  }
  if (!file)
    throw Error("can't read {}: the disk gave less than the file's {} bytes", path, file_bytes);
  return parts;
}

Json header_in(const Parts& parts, const std::string& path) {
  Json header = Json::parse(parts.header, nullptr, false);
  if (!header.is_object()) refuse(path, "its header is not a JSON object");
  return header;
}

}  // namespace

const Tensor* SafetensorsFile::find(std::string_view name) const {
  for (const NamedTensor& entry : tensors)
    if (entry.name == name) return &entry.tensor;
  return nullptr;
}

std::string write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                              const Metadata& metadata) {
  // Wide types first, so that every tensor is aligned in the file.
  std::vector<NamedTensor> ordered = tensors;
  std::stable_sort(ordered.begin(), ordered.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return bytes_of(a.tensor.dtype) > bytes_of(b.tensor.dtype);
  });
  std::string header = header_of(ordered, metadata);
  const std::uint64_t header_bytes = header.size();
  const std::string checksum = checksum_of(header_bytes, header, ordered);
  header.replace(checksum_prefix.size(), checksum.size(), checksum);

  OutputFile file(path, OutputFile::Existing::replace);
  try {
    file.write(&header_bytes, sizeof header_bytes);
    file.write(header.data(), static_cast<std::int64_t>(header.size()));
    for (const auto& [name, tensor] : ordered) file.write(tensor.data, tensor.bytes());
    file.sync();
  } catch (const Error&) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
    throw;
  }
  return checksum;
}

SafetensorsFile read_safetensors(const std::string& path, ForeignTypes foreign) {
  Parts parts = read_parts(path, Wanted::all);
  const Json header = header_in(parts, path);
  SafetensorsFile file;
  file.path = path;
  std::vector<Entry> entries;
  for (const auto& [name, json] : header.items()) {
    if (name == "__metadata__")
      file.metadata = metadata_of(path, json);
    else
      entries.push_back(entry_of(path, name, json, foreign));
  }
  check_places(path, entries, parts.data.bytes());
  for (const Entry& entry : entries) {
    std::byte* data = parts.data.data() + entry.begin;
    if (entry.dtype)
      file.tensors.push_back({entry.name, {*entry.dtype, entry.shape, data}});
    else
      file.foreign.push_back({entry.name, entry.type, entry.shape, data});
  }
  file.data = std::move(parts.data);

  if (parts.header.starts_with(checksum_prefix)) {
    file.checksum = parts.header.substr(checksum_prefix.size(), no_checksum.size());
    const std::string found = checksum_of(parts.header_bytes, parts.header, file.tensors);
    if (found != file.checksum)
      refuse(path, fmt::format("its content has checksum {}, expected {}", found, file.checksum));
    file.metadata.erase("crc32");
  }
  return file;
}

Metadata read_safetensors_metadata(const std::string& path) {
  const Parts parts = read_parts(path, Wanted::header);
  const Json header = header_in(parts, path);
  if (!header.contains("__metadata__")) return {};
  Metadata metadata = metadata_of(path, header["__metadata__"]);
  if (parts.header.starts_with(checksum_prefix)) metadata.erase("crc32");
  return metadata;
}

}  // namespace tutti
