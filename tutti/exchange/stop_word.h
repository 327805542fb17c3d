// SPDX-License-Identifier: Apache-2.0
// A word of the first rank to all ranks, in every step: whether training is to end, and other
// things that one rank alone knows. The word is a message of the step like others: sent when the
// step begins and awaited when the step ends, so that no rank waits for it.
#pragma once

#include "tutti/graph/graph.h"

#include <cstdint>
#include <string>

namespace tutti {

inline constexpr std::int64_t stop_word_length = 3;  // elements of type i32

// Inserts the broadcast of the word into the graph of a step. The word lies among the results: the
// host of the first rank writes it there, and the hosts of all ranks read it there.
void add_stop_word(Graph& graph, const std::string& axes, std::int64_t results_offset_bytes);

}  // namespace tutti
