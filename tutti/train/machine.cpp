// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/machine.h"

#include <omp.h>

namespace tutti {

int available_cores() { return omp_get_num_procs(); }

}  // namespace tutti
