// SPDX-License-Identifier: Apache-2.0
// Parameters that training leaves as they are (A05): they have no gradient and no update.
#pragma once

#include "tutti/nn/net.h"

#include <string>
#include <string_view>

namespace tutti {

// Freezes the parameters whose names match one of the patterns (with * and ?, separated by blanks).
// Throws Error when a pattern matches no parameter or when nothing is left to train; `where` begins
// messages.
void freeze(Net& net, const std::string& patterns, std::string_view where);

}  // namespace tutti
