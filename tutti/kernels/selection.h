// SPDX-License-Identifier: Apache-2.0
// Which of several variants of an operator a network runs by.
#pragma once

#include "tutti/kernels/kernel.h"

#include <string>

namespace tutti {

// What a recipe says about it.
struct Selection {
  std::string convolution = "auto";  // for every convolution that leaves it open and can run so
};

// backend_of() with `variant` as the recipe wants it. The table must outlive the result.
Backend backend_of(const KernelTable& table, const Selection& selection);

}  // namespace tutti
