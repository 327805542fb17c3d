// SPDX-License-Identifier: Apache-2.0
// A word of the first rank to all, in every step: whether the run is to end, and other things that
// one rank alone knows. It is a message of the step like others: told when the step begins and
// heard when it ends, so that nobody waits for it.
#pragma once

#include "tutti/graph/graph.h"

#include <cstdint>
#include <string>

namespace tutti {

inline constexpr std::int64_t stop_word_length = 3;  // of i32

// Inserts it into the graph of a step. The word lies among the results, where the host of the first
// rank writes it and those of all read it.
void add_stop_word(Graph& graph, const std::string& axes, std::int64_t results_offset_bytes);

}  // namespace tutti
