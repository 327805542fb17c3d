// SPDX-License-Identifier: Apache-2.0
// PyTorch as a peer, 1.13 or later: which one is there, and what its user could set to make it
// faster at the same work. A comparison is with the best of that.
#pragma once

#include "bench/child.h"
#include "bench/options.h"
#include "bench/search.h"
#include "bench/workload.h"

#include <optional>

namespace tutti::bench {

struct Torch {
  std::string python, script;
  nlohmann::ordered_json description;  // "torch": its version, "compiles": torch.compile works …
};

// The PyTorch of options.python, or else of the first Python that has one. Throws Error when there
// is none.
Torch find_torch(const Options& options);

// Settings and, first in each, what PyTorch does by itself; with one thread nobody waits.
std::vector<std::vector<Alternative>> torch_settings(const Torch& torch, const Workload& workload,
                                                     int threads);
// Layouts and libraries are looked at once more when OpenMP's settings are found.
std::vector<std::size_t> torch_order(const std::vector<std::vector<Alternative>>& settings);

// A process that answers as bench/serve.h says.
Child start_torch(const Torch& torch, const Workload& workload, const std::string& path,
                  int threads, const Way& way);

}  // namespace tutti::bench
