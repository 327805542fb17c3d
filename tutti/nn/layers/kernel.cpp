// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/layers/kernel.h"

namespace tutti::nn {

std::vector<Setting> kernel_settings() {
  return {{.name = "channels",
           .initial = std::int64_t{1},
           .doc = "output channels",
           .min = 1,
           .required = true},
          {.name = "kernel",
           .initial = Shape{},
           .doc = "extents of the window; one number holds for all dimensions",
           .min = 1,
           .required = true}};
}

Shape kernel_extents(const Settings& settings, const Shape& spatial) {
  Shape kernel = settings.integers("kernel");
  if (kernel.size() == 1) kernel.resize(spatial.size(), kernel[0]);
  if (kernel.size() != spatial.size())
    throw Error("'kernel' is {}, expected 1 or {} entries for an image of {}",
                to_string(SettingValue(kernel)), spatial.size(), to_string(spatial));
  return kernel;
}

void check_groups(std::int64_t inputs, std::int64_t outputs, std::int64_t groups) {
  if (inputs % groups != 0 || outputs % groups != 0)
    throw Error("{} input and {} output channels can't be divided into {} groups", inputs, outputs,
                groups);
}

Shape with_kernel(Shape outer, const Shape& kernel) {
  outer.insert(outer.end(), kernel.begin(), kernel.end());
  return outer;
}

}  // namespace tutti::nn
