// SPDX-License-Identifier: Apache-2.0
// The files of the user's cache folder keep what was measured on this machine; training does
// without those that can't be read.
#pragma once

#include <string>
#include <vector>

namespace tutti {

// A line for each file that is damaged: its name, what is wrong, and what makes it anew.
std::vector<std::string> cache_remarks();

}  // namespace tutti
