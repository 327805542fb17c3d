// SPDX-License-Identifier: Apache-2.0
// A folder of class folders with PNG and JPEG images: FOLDER/train/CLASS/…, FOLDER/test/CLASS/… (or
// val/), or FOLDER/CLASS/…, of which a fraction is the test part.
#pragma once

#include "tutti/data/dataset.h"

namespace tutti::data {

DatasetEntry image_folder();

}  // namespace tutti::data
