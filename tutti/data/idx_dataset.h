// SPDX-License-Identifier: Apache-2.0
// Data sets in IDX files: any files by path, or MNIST's four in the data folder.
#pragma once

#include "tutti/data/dataset.h"

namespace tutti::data {

DatasetEntry idx();
DatasetEntry mnist();

}  // namespace tutti::data
