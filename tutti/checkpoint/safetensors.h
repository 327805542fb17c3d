// SPDX-License-Identifier: Apache-2.0
// Files in the safetensors format: the length of a JSON header (8 bytes, little-endian), the header
// (types, shapes, places, string metadata; padded to 8 bytes), the tensors in plain row-major
// layout. Files we write carry a CRC-32 of themselves in the metadata, which other tools ignore.
#pragma once

#include "tutti/core/tensor.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// A tensor of another tool's file, of a type that is not ours.
struct ForeignTensor {
  std::string name;
  std::string type;  // as the format calls it: F16, BF16, I64 …
  Shape shape;
  const std::byte* data = nullptr;
};

using Metadata = std::map<std::string, std::string>;

struct SafetensorsFile {
  std::string path;
  Metadata metadata;
  std::vector<NamedTensor> tensors;    // views of `data`, in order of their place
  std::vector<ForeignTensor> foreign;  // filled with ForeignTypes::kept
  std::string checksum;                // CRC-32 in hexadecimal; empty: another tool's file
  Buffer data;

  // The tensor with this name; nullptr when there is none.
  const Tensor* find(std::string_view name) const;
};

// Writes the file and returns its checksum when all of it is on the disk. A file that can't be
// written whole is removed.
std::string write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                              const Metadata& metadata);

// Reads and validates a file; an Error names the file and what was expected. Tensors of foreign
// types are an Error, or are kept apart.
enum class ForeignTypes { refused, kept };
SafetensorsFile read_safetensors(const std::string& path,
                                 ForeignTypes foreign = ForeignTypes::refused);

// Reads only the metadata, not the tensors; the checksum is not verified.
Metadata read_safetensors_metadata(const std::string& path);

}  // namespace tutti
