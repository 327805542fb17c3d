// SPDX-License-Identifier: Apache-2.0
// The cores that this process might use when it began. Back ends bind threads, and what a bound
// thread starts is bound too.
#pragma once

#include <vector>

namespace tutti::bench {

const std::vector<int>& cores();

// Binds the calling thread to these cores.
void use_cores(const std::vector<int>& chosen);

}  // namespace tutti::bench
