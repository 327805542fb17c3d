// SPDX-License-Identifier: Apache-2.0
// Synchronous training (E01): all ranks do the same step.
#include "tutti/exchange/gates/gate.h"

namespace tutti {

extern const Gate sync_gate;

const Gate sync_gate{
    .name = "sync",
    .doc = "all ranks do the same step: the collectives inside it keep them together",
    .may_begin = [](const Settings&, const Clocks& clocks) { return clocks.own == clocks.slowest; },
};

}  // namespace tutti
