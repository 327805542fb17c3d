// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/folder.h"

#include "tutti/core/error.h"

#include <cstdlib>
#include <string>

namespace tutti::data {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

std::filesystem::path data_folder() {
  if (const std::string given = environment("TUTTI_DATA"); !given.empty()) return given;
  if (const std::string xdg = environment("XDG_DATA_HOME"); !xdg.empty())
    return std::filesystem::path(xdg) / "tutti";
  if (const std::string home = environment("HOME"); !home.empty())
    return std::filesystem::path(home) / ".local" / "share" / "tutti";
  throw Error(
      "no folder for data: neither TUTTI_DATA, XDG_DATA_HOME nor HOME is set; set TUTTI_DATA "
      "to a folder");
}

}  // namespace tutti::data
