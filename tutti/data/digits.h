// SPDX-License-Identifier: Apache-2.0
// The embedded data set: UCI's handwritten digits, see digits.md.
#pragma once

#include "tutti/data/dataset.h"

namespace tutti::data {

DatasetEntry digits();

}  // namespace tutti::data
