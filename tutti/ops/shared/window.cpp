// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/shared/window.h"

#include "tutti/ops/shared/precision.h"

#include <algorithm>

namespace tutti::ops {
namespace {

using Integers = std::vector<std::int64_t>;

// Entry `d` of a list setting; a list of one entry holds for all dimensions.
std::int64_t entry(const char* name, const Settings& settings, const char* setting, std::size_t d,
                   std::size_t dimensions) {
  const Integers& list = settings.integers(setting);
  if (list.size() != 1 && list.size() != dimensions)
    throw Error("[{}] '{}' is {}, expected 1 or {} entries for {} spatial dimensions", name,
                setting, to_string(SettingValue(list)), dimensions, dimensions);
  return list.size() == 1 ? list[0] : list[d];
}

// The last letters of "dhw" or "jkl", so that height and width have the same letters in images of
// 1, 2 and 3 dimensions.
std::string letters(const char* three, std::size_t dimensions) {
  std::string text;
  for (std::size_t d = 3 - dimensions; d < 3; ++d) {
    if (!text.empty()) text += ',';
    text += three[d];
  }
  return text;
}

// How far one more window reaches beyond the far padding; 0 where no window is left out or where it
// would begin behind the image.
std::int64_t overhang_of(const Window& window, std::int64_t extent) {
  const std::int64_t room = extent + 2 * window.padding - window.reach();
  const std::int64_t missing = (window.stride - room % window.stride) % window.stride;
  return room + missing - window.padding < extent ? missing : 0;
}

// Decomposes a row-major index into coordinates.
void unravel(std::int64_t index, const Shape& extents, Shape& position) {
  for (std::size_t d = extents.size(); d-- > 0; index /= extents[d])
    position[d] = index % extents[d];
}

}  // namespace

Shape spatial_of(const Shape& shape) { return Shape(shape.begin() + 2, shape.end()); }

void check_image(const char* name, const char* what, const Type& type) {
  if (!is_float(type.dtype) || type.shape.size() < 3 || type.shape.size() > 5)
    throw Error("[{}] {} is {} {}, expected floating-point [n, c, 1 to 3 spatial extents]", name,
                what, name_of(type.dtype), to_string(type.shape));
}

Settings settings_for(const Op& op, const Settings& settings) {
  Settings kept;
  for (const Setting& declared : op.settings)
    if (settings.has(declared.name))
      kept.set(declared.name, settings.values().find(declared.name)->second);
  return kept;
}

std::vector<Setting> convolution_settings() {
  return {
      {.name = "stride", .initial = Integers{1}, .doc = "steps between windows", .min = 1},
      {.name = "padding", .initial = Integers{0}, .doc = "zeros on both sides", .min = 0},
      {.name = "dilation", .initial = Integers{1}, .doc = "steps inside a window", .min = 1},
      {.name = "groups",
       .initial = std::int64_t{1},
       .doc = "channels fall into this many groups that do not meet",
       .min = 1},
      {.name = "variant",
       .initial = std::string("auto"),
       .doc = "how it is computed (see: tutti list variants)"},
      precision_setting(),
  };
}

std::vector<Setting> pool_settings() {
  return {
      {.name = "kernel", .initial = Integers{}, .doc = "extents of the window", .min = 1},
      {.name = "stride", .initial = Integers{}, .doc = "between windows; [] = kernel", .min = 1},
      {.name = "padding", .initial = Integers{0}, .doc = "positions on both sides", .min = 0},
      {.name = "ceil", .initial = false, .doc = "a last window may hang over the far edge"},
      {.name = "global", .initial = false, .doc = "the window is the whole image"},
  };
}

Setting spatial_setting() {
  return {.name = "spatial",
          .initial = Integers{},
          .doc = "spatial extents of the forward operator's input",
          .min = 1,
          .required = true};
}

std::vector<Window> convolution_windows(const char* name, const Settings& settings,
                                        const Shape& kernel) {
  std::vector<Window> windows;
  for (std::size_t d = 0; d < kernel.size(); ++d)
    windows.push_back({.kernel = kernel[d],
                       .stride = entry(name, settings, "stride", d, kernel.size()),
                       .padding = entry(name, settings, "padding", d, kernel.size()),
                       .dilation = entry(name, settings, "dilation", d, kernel.size())});
  return windows;
}

std::vector<Window> pool_windows(const char* name, const Settings& settings, const Shape& spatial) {
  std::vector<Window> windows;
  for (std::size_t d = 0; d < spatial.size(); ++d) {
    if (settings.flag("global")) {
      windows.push_back({.kernel = spatial[d], .stride = spatial[d]});
      continue;
    }
    if (settings.integers("kernel").empty())
      throw Error("[{}] has no window: give 'kernel', or 'global = true' for the whole image",
                  name);
    Window window{.kernel = entry(name, settings, "kernel", d, spatial.size()),
                  .padding = entry(name, settings, "padding", d, spatial.size())};
    window.stride = settings.integers("stride").empty()
                        ? window.kernel
                        : entry(name, settings, "stride", d, spatial.size());
    if (window.padding >= window.kernel)
      throw Error(
          "[{}] padding {} is not smaller than the window of {}: a window would see nothing", name,
          window.padding, window.kernel);
    if (settings.flag("ceil")) window.overhang = overhang_of(window, spatial[d]);
    windows.push_back(window);
  }
  return windows;
}

Shape output_extents(const char* name, const std::vector<Window>& windows, const Shape& spatial) {
  if (windows.size() != spatial.size())
    throw Error("[{}] the window has {} spatial dimensions, the image {}", name, windows.size(),
                spatial.size());
  Shape extents;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    extents.push_back(windows[d].output_extent(spatial[d]));
    if (extents.back() < 1)
      throw Error("[{}] a window that spans {} does not fit into an extent of {} with padding {}",
                  name, windows[d].reach(), spatial[d], windows[d].padding);
  }
  return extents;
}

Type pooled_type(const char* name, const Settings& settings, const Type& x) {
  check_image(name, "x", x);
  const Shape spatial = spatial_of(x.shape);
  Type y{x.dtype, {x.shape[0], x.shape[1]}};
  const Shape out = output_extents(name, pool_windows(name, settings, spatial), spatial);
  y.shape.insert(y.shape.end(), out.begin(), out.end());
  return y;
}

Type unpooled_type(const char* name, const Settings& settings, const Type& dy) {
  check_image(name, "dy", dy);
  Type x{dy.dtype, {dy.shape[0], dy.shape[1]}};
  const Shape& spatial = settings.integers("spatial");
  x.shape.insert(x.shape.end(), spatial.begin(), spatial.end());
  if (const Type y = pooled_type(name, settings, x); y != dy)
    throw Error("[{}] dy is {}, but pooling {} returns {}", name, to_string(dy.shape),
                to_string(x.shape), to_string(y.shape));
  return x;
}

std::int64_t window_elements(const std::vector<Window>& windows) {
  std::int64_t count = 1;
  for (const Window& window : windows) count *= window.kernel;
  return count;
}

std::vector<Tap> taps(const std::vector<Window>& windows, const Shape& spatial) {
  Shape kernel, out;
  for (std::size_t d = 0; d < windows.size(); ++d) {
    kernel.push_back(windows[d].kernel);
    out.push_back(windows[d].output_extent(spatial[d]));
  }
  std::vector<Tap> all;
  Shape at(windows.size()), in_window(windows.size());
  for (std::int64_t o = 0; o < elements(out); ++o) {
    unravel(o, out, at);
    for (std::int64_t k = 0; k < elements(kernel); ++k) {
      unravel(k, kernel, in_window);
      Tap tap{.out = o, .kernel = k};
      bool inside = true;
      for (std::size_t d = 0; d < windows.size(); ++d) {
        const Window& window = windows[d];
        const std::int64_t position =
            at[d] * window.stride - window.padding + in_window[d] * window.dilation;
        inside = inside && position >= 0 && position < spatial[d];
        tap.in = tap.in * spatial[d] + position;
      }
      if (inside) all.push_back(tap);
    }
  }
  return all;
}

double reduction_depth(const Shape& extents) {
  double depth = 0;
  for (std::int64_t extent : extents) depth += log2_ceiling(extent);
  return depth;
}

std::string output_indices(std::size_t dimensions) { return letters("dhw", dimensions); }
std::string kernel_indices(std::size_t dimensions) { return letters("jkl", dimensions); }

std::string window_indices(std::size_t dimensions) {
  std::string text;
  for (std::size_t d = 3 - dimensions; d < 3; ++d)
    text += fmt::format("{}{}+{}", text.empty() ? "" : ",", "dhw"[d], "jkl"[d]);
  return text;
}

std::string fixed_indices(std::size_t dimensions) { return letters("***", dimensions); }

}  // namespace tutti::ops
