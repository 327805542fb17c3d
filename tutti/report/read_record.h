// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/report/run.h"

#include <string>
#include <vector>

namespace tutti::report {

// Reads a record, given by its file or by the folder of its run. A last line that is still being
// written is left out; anything else that is no record is an Error that names file and line.
Run read_record(const std::string& path);

// The same for several; runs of one name are told apart by their paths.
std::vector<Run> read_records(const std::vector<std::string>& paths);

}  // namespace tutti::report
