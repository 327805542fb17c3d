// SPDX-License-Identifier: Apache-2.0
// From a recipe to a job.
#pragma once

#include "tutti/recipe/job.h"

namespace tutti {

// Validates every table. An Error names file, line and key, and what was expected.
Job make_job(const Recipe& recipe, const Lists& lists);

}  // namespace tutti
