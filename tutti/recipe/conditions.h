// SPDX-License-Identifier: Apache-2.0
// Conditions between the keys of a job that no table can check by itself.
#pragma once

#include "tutti/recipe/job.h"

namespace tutti {

// Throws Error for the first condition that the job does not meet; `given` says where its keys were
// written.
void check_conditions(const Job& job, const Recipe& given);

}  // namespace tutti
