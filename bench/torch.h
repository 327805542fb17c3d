// SPDX-License-Identifier: Apache-2.0
// PyTorch 1.13 or later as a peer: finds an installation, and lists what a user could set to make
// it faster at the same work. We compare with the best of these settings.
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

// The settings of PyTorch; the first alternative of each is the default. With one thread there are
// no alternatives for how OpenMP waits.
std::vector<std::vector<Alternative>> torch_settings(const Torch& torch, const Workload& workload,
                                                     int threads);
// The order in which settings are searched; layouts and libraries come once more behind OpenMP's
// settings.
std::vector<std::size_t> torch_order(const std::vector<std::vector<Alternative>>& settings);

// Starts PyTorch as a process that answers as bench/serve.h says.
Child start_torch(const Torch& torch, const Workload& workload, const std::string& path,
                  int threads, const Way& way);

}  // namespace tutti::bench
