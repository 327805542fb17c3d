// SPDX-License-Identifier: Apache-2.0
// The file by which this program can be started again. A program that tools/bundle has packed is
// started by a script, which leaves its own path in TUTTI_PROGRAM, since /proc/self/exe is then the
// loader.
#pragma once

#include <string>

namespace tutti {

std::string own_program();

}  // namespace tutti
