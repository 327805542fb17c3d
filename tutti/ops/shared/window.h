// SPDX-License-Identifier: Apache-2.0
// Sliding windows of convolution and pooling, one Window per spatial dimension (1 to 3 of them).
// A setting list of length 1 holds for all spatial dimensions.
#pragma once

#include "tutti/core/settings.h"
#include "tutti/core/shape.h"
#include "tutti/graph/op.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::ops {

// The window along one spatial dimension.
struct Window {
  std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  std::int64_t overhang = 0;  // positions that the last window may reach beyond the far padding

  // Positions that one window spans, holes included.
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
  // ⌊(H + 2p + overhang − d(K−1) − 1)/s⌋ + 1, or 0 when the window does not fit.
  std::int64_t output_extent(std::int64_t extent) const {
    const std::int64_t room = extent + 2 * padding + overhang - reach();
    return room < 0 ? 0 : room / stride + 1;
  }
};

// The extents behind batch and channels: x[n,c,spatial…] → [spatial…].
Shape spatial_of(const Shape& shape);

// Throws unless `type` is floating-point [n, c, 1 to 3 spatial extents]; `name` begins errors.
void check_image(const char* name, const char* what, const Type& type);

// The entries of `settings` that `op` declares, so that a gradient gets the settings of its
// operator.
Settings settings_for(const Op& op, const Settings& settings);

// The settings `stride`, `padding`, `dilation`, `groups`, `variant` and `precision`.
std::vector<Setting> convolution_settings();
// The settings `kernel`, `stride` (empty: the kernel), `padding`, `ceil` (a last window may hang
// over the far edge) and `global` (the window is the whole image).
std::vector<Setting> pool_settings();
// `spatial`: the extents of the image whose gradient is computed; a required list.
Setting spatial_setting();

// The windows that `settings` describe for a kernel of these spatial extents.
std::vector<Window> convolution_windows(const char* name, const Settings& settings,
                                        const Shape& kernel);
// The windows of pooling over an image of these spatial extents.
std::vector<Window> pool_windows(const char* name, const Settings& settings, const Shape& spatial);

// Extents of the output; throws when a window does not fit into the padded image.
Shape output_extents(const char* name, const std::vector<Window>& windows, const Shape& spatial);

// The type that pooling x[n,c,spatial…] returns.
Type pooled_type(const char* name, const Settings& settings, const Type& x);
// The type of the image x whose pooling has the type of dy; the setting `spatial` gives its
// extents.
Type unpooled_type(const char* name, const Settings& settings, const Type& dy);

// Positions inside one window.
std::int64_t window_elements(const std::vector<Window>& windows);

// An output position, the position in its window and the image position that is read there, all as
// row-major indices.
struct Tap {
  std::int64_t out = 0, kernel = 0, in = 0;
};

// All taps in order of output, then window position; positions in the padding are left out.
std::vector<Tap> taps(const std::vector<Window>& windows, const Shape& spatial);

// Σ ⌈log2 extent⌉: the depth of a reduction, dimension by dimension.
double reduction_depth(const Shape& extents);

// Index letters of `dimensions` spatial dimensions for sharding rules, "h,w" for two.
std::string output_indices(std::size_t dimensions);
// Index letters of the kernel, "k,l".
std::string kernel_indices(std::size_t dimensions);
// Indices of an image that is read through a window, "h+k,w+l".
std::string window_indices(std::size_t dimensions);
// Indices of dimensions that may not be split, "*,*".
std::string fixed_indices(std::size_t dimensions);

}  // namespace tutti::ops
