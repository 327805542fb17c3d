// SPDX-License-Identifier: Apache-2.0
// The sections of the page: plain HTML, or frames that the page's script fills. A section is empty
// where no run has anything for it.
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
