// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tutti {

// The path of a file that keeps measurements for later runs of the program:
// $XDG_CACHE_HOME/tutti/NAME, else ~/.cache/tutti/NAME; "" where neither XDG_CACHE_HOME nor HOME is
// set.
std::string cache_file(const std::string& name);

}  // namespace tutti
