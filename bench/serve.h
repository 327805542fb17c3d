// SPDX-License-Identifier: Apache-2.0
// Our side of a comparison, in a process of its own like each peer. It prints "ready PARAMETERS"
// and then answers lines: "run K" with the milliseconds of K steps and the last loss, "memory" with
// the peak resident bytes since before the model was made. It ends when its input ends.
#pragma once

#include <string>

namespace tutti::bench {

void serve(const std::string& model, const std::string& path, int threads, int ranks, bool shard);

}  // namespace tutti::bench
