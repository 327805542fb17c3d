// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/cache_file.h"

#include <cstdlib>
#include <filesystem>

namespace tutti {

std::string cache_file(const std::string& name) {
  const auto folder = [](const char* variable) -> std::filesystem::path {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  std::filesystem::path cache = folder("XDG_CACHE_HOME");
  if (cache.empty() && !folder("HOME").empty()) cache = folder("HOME") / ".cache";
  return cache.empty() ? "" : (cache / "tutti" / name).string();
}

}  // namespace tutti
