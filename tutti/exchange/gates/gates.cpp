// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/gates/gate.h"

namespace tutti {

extern const Gate sync_gate, async_gate;

List<Gate> gates() { return {"gate", {sync_gate, async_gate}}; }

}  // namespace tutti
