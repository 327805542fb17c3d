// SPDX-License-Identifier: Apache-2.0
// Runs as one HTML page that needs nothing else: tables are plain HTML, charts are drawn by a small
// script from data within the page.
#pragma once

#include "tutti/report/run.h"

#include <string>
#include <vector>

namespace tutti::report {

std::string page(const std::vector<Run>& runs);

// The parts of the page that are the same for all runs.
extern const char* const page_style;
extern const char* const page_script;      // fits tables to the width, draws charts
extern const char* const timeline_script;  // draws time lines; uses functions of page_script

}  // namespace tutti::report
