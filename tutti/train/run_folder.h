// SPDX-License-Identifier: Apache-2.0
// Where a run leaves its files. Those that the recipe does not name go to a folder of their own,
// made when missing.
#pragma once

#include "tutti/train/job.h"

namespace tutti {

void make_record_folder(const Job& job);

// The same for the checkpoint, whose folder must also be writable: a run should not find out at its
// end that it is not.
void make_checkpoint_folder(const Job& job);

}  // namespace tutti
