// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/dataset.h"
#include "tutti/data/digits.h"
#include "tutti/data/idx_dataset.h"
#include "tutti/data/synthetic.h"

namespace tutti::data {

List<DatasetEntry> datasets() { return {"data set", {digits(), mnist(), idx(), synthetic()}}; }

}  // namespace tutti::data
