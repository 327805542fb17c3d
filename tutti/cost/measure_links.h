// SPDX-License-Identifier: Apache-2.0
// Measures the links between ranks (K04): two ranks exchange messages with the code that runs
// collectives, and add vectors of the same length, while the others wait.
#pragma once

#include "tutti/comm/links.h"

namespace tutti {

struct LinkOptions {
  double most_bytes = 64 << 20;
  double round_seconds = 0.005;
};

// Called on all ranks together. Ranks 0 and 1 give `within` and, where two ranks can sum through
// memory that both see, `direct` and `staged`; rank 0 and the first of the next node give `across`
// and what handling its messages costs.
// What the job does not have is left empty. The result is rank 0's.
MeasuredLinks measure_links(Communicator& communicator, const LinkOptions& options = {});

}  // namespace tutti
