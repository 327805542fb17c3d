// SPDX-License-Identifier: Apache-2.0
// CIFAR-10 and CIFAR-100 in their binary format: records of one or two label bytes and 3 × 32 × 32
// pixels, mapped rather than loaded.
#pragma once

#include "tutti/data/dataset.h"

namespace tutti::data {

DatasetEntry cifar10();
DatasetEntry cifar100();

}  // namespace tutti::data
