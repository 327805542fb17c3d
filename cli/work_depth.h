// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/nn/net.h"

#include <string>

namespace tutti::cli {

// Tables of work and depth for a training step of the network: operators, layers, methods of
// convolution, time on p processors.
std::string work_depth_text(Net net);

}  // namespace tutti::cli
