// SPDX-License-Identifier: Apache-2.0
// Records: one JSON object per line, each on its way to the disk before the next begins, so that
// tools can follow a run and a crash loses nothing.
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

  // NaN and infinities become null: JSON has no word for them.
  void write(const nlohmann::ordered_json& object);

 private:
  std::optional<OutputFile> file_;
};

}  // namespace tutti
