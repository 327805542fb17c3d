// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tutti/report/run.h"

#include <string>
#include <vector>

namespace tutti::report {

// Reads a record, given by its file or by the folder of its run. A last line that is still being
// written is left out; anything else that is no record is an Error that names file and line.
Run read_record(const std::string& path);

struct Records {
  std::vector<Run> runs;
  std::vector<std::string> left_out;  // why, a line for each path that gave no run
};

// Reads several records. Paths to the same file, such as a link to the newest run, give one run;
// records that can't be read are left out. Runs of the same name are called by their paths.
Records read_records(const std::vector<std::string>& paths);

}  // namespace tutti::report
