// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/trigger.h"

namespace tutti {

// The step's graph holds the exchange, so it happens in every step: longer periods need a second
// program without it, and what is merged then.
List<Trigger> triggers() {
  constexpr std::int64_t each = 1;
  return {"trigger",
          {{.name = "every",
            .doc = "exchanges gradients in every step",
            .settings = {{.name = "period",
                          .initial = each,
                          .doc = "steps from one exchange to the next; only 1 so far",
                          .min = 1,
                          .max = 1}},
            .push = [](const Settings& settings, std::int64_t step) {
              return (step + 1) % settings.integer("period") == 0;
            }}}};
}

}  // namespace tutti
