// SPDX-License-Identifier: Apache-2.0
// Records: one JSON object per line, each handed to the operating system before the next begins, so
// that tools can follow a training run and a crash of the program loses no record.
#pragma once

#include "tutti/core/output_file.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>

namespace tutti {

class RecordWriter {
 public:
  // Keeps no record.
  RecordWriter() = default;
  // Appends to `path` or replaces it; an empty path keeps no record.
  explicit RecordWriter(const std::string& path,
                        OutputFile::Existing existing = OutputFile::Existing::append);

  // Writes one line. NaN and infinities become null: JSON has no word for them.
  void write(const nlohmann::ordered_json& object);

 private:
  std::optional<OutputFile> file_;
};

}  // namespace tutti
