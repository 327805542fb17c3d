// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/triggers/trigger.h"

namespace tutti {

extern const Trigger every_trigger;

List<Trigger> triggers() { return {"trigger", {every_trigger}}; }

}  // namespace tutti
