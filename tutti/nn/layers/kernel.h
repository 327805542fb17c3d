// SPDX-License-Identifier: Apache-2.0
// What layers have in common whose weights are windows over an image.
#pragma once

#include "tutti/nn/layer.h"

namespace tutti::nn {

// The settings `channels` and `kernel`.
std::vector<Setting> kernel_settings();

// The extents of the window, one for each dimension of the image.
Shape kernel_extents(const Settings& settings, const Shape& spatial);

// Throws unless both numbers of channels can be divided by `groups`.
void check_groups(std::int64_t inputs, std::int64_t outputs, std::int64_t groups);

// The shape [outer…, kernel…].
Shape with_kernel(Shape outer, const Shape& kernel);

}  // namespace tutti::nn
