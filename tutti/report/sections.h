// SPDX-License-Identifier: Apache-2.0
// The parts of the page that are plain HTML, or frames that its script fills. A part that no run
// has anything for is empty.
#pragma once

#include "tutti/report/run.h"

#include <string>
#include <vector>

namespace tutti::report {

std::string summary_section(const std::vector<Run>& runs);
std::string settings_section(const std::vector<Run>& runs);
std::string confusion_section(const std::vector<Run>& runs);
std::string timeline_section(const std::vector<Run>& runs);

}  // namespace tutti::report
