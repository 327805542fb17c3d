// SPDX-License-Identifier: Apache-2.0
// Measures this machine: small networks of a few operators ("probes"), at many sizes, through the
// same passes and kernels as training; every node of a probe is a sample of its class.
#pragma once

#include "tutti/cost/machine.h"
#include "tutti/kernels/kernel_table.h"

#include <functional>
#include <string>
#include <vector>

namespace tutti {

struct CalibrateOptions {
  int threads = 1;
  bool quick = false;  // every eighth probe, for tests
  // Called before each probe with the fraction that is done.
  std::function<void(double)> progress = {};
};

struct Calibrated {
  Calibration calibration;
  double disturbed = 0;  // fraction of the probes that other programs interrupted in every round
};
Calibrated calibrate(const KernelTable& kernels, const CalibrateOptions& options);

}  // namespace tutti
