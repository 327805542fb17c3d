// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/record.h"

#include "tutti/core/error.h"

#include <nlohmann/json.hpp>

namespace tutti {

RecordWriter::RecordWriter(const std::string& path, OutputFile::Existing existing) {
  if (!path.empty()) file_.emplace(path, existing);
}

void RecordWriter::write(const nlohmann::ordered_json& object) {
  check(object.is_object(), "a record is an object");
  if (!file_) return;
  using Json = nlohmann::ordered_json;
  const std::string line = object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  file_->write(line.data(), static_cast<std::int64_t>(line.size()));
}

}  // namespace tutti
