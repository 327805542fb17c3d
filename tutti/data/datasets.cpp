// SPDX-License-Identifier: Apache-2.0
// The list of data sets.
#include "tutti/data/cifar.h"
#include "tutti/data/csv.h"
#include "tutti/data/dataset.h"
#include "tutti/data/digits.h"
#include "tutti/data/idx_dataset.h"
#include "tutti/data/image_folder.h"
#include "tutti/data/npy.h"
#include "tutti/data/synthetic.h"
#include "tutti/data/synthetic_tokens.h"

namespace tutti::data {

List<DatasetEntry> datasets() {
  return {"data set",
          {digits(), mnist(), cifar10(), cifar100(), idx(), image_folder(), csv(), npy(),
           synthetic(), synthetic_tokens()}};
}

}  // namespace tutti::data
