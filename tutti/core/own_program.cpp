// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/own_program.h"

#include <cstdlib>
#include <filesystem>

namespace tutti {

std::string own_program() {
  const char* script = std::getenv("TUTTI_PROGRAM");
  return script != nullptr ? script : std::filesystem::read_symlink("/proc/self/exe").string();
}

}  // namespace tutti
