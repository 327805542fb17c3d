// SPDX-License-Identifier: Apache-2.0
// The networks of the survey's Table 5: its numbers beside those counted on our graphs (K11, K12).
#pragma once

#include <string>

namespace tutti::cli {

std::string survey_table();

}  // namespace tutti::cli
