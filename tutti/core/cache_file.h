// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tutti {

// A file that keeps what was measured: $XDG_CACHE_HOME/tutti/NAME, else ~/.cache/tutti/NAME; ""
// without a home.
std::string cache_file(const std::string& name);

}  // namespace tutti
