// SPDX-License-Identifier: Apache-2.0
// An exchange every `period` steps. The graph of a step holds the exchange, so it happens in every
// step: longer periods need a second compiled step without an exchange, and a merge of weights.
#include "tutti/exchange/triggers/trigger.h"

namespace tutti {
namespace {

constexpr std::int64_t each_step = 1;

}  // namespace

extern const Trigger every_trigger;

const Trigger every_trigger{
    .name = "every",
    .doc = "exchanges in every step",
    .settings = {{.name = "period",
                  .initial = each_step,
                  .doc = "steps from one exchange to the next; only 1 so far",
                  .min = 1,
                  .max = 1}},
    .pull = [](const Settings& settings,
               std::int64_t step) { return step % settings.integer("period") == 0; },
    .push = [](const Settings& settings,
               std::int64_t step) { return (step + 1) % settings.integer("period") == 0; },
};

}  // namespace tutti
