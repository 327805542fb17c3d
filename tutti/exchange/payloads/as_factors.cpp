// SPDX-License-Identifier: Apache-2.0
// Gradients of linear layers travel as their factors (G18, K13): always, or where factors are
// predicted to be faster.
#include "tutti/exchange/payloads/factors.h"
#include "tutti/exchange/payloads/payload.h"
#include "tutti/exchange/scheme.h"

namespace tutti {

extern const Payload factors_payload, auto_payload;

const Payload factors_payload{
    .name = "factors",
    .doc = "gradients of linear layers travel as their factors, which every rank then multiplies",
    .objection = [](const Scheme& scheme, const SchemeUse& use) -> std::string {
      if (scheme.fixed_order)
        return "they are multiplied in an order of their own, expected exchange.order = \"any\"";
      if (scheme.codec.encode != nullptr)
        return "they are not encoded, expected codec.name = \"none\"";
      if (scheme.store.keeps_parts)
        return "gradients in parts are summed, expected exchange.store all or sharded";
      if (use.local_rule != "none")
        return "ranks change gradients before they travel, expected "
               "optimizer.variance_reduction = \"none\"";
      if (use.micro_batches > 1)
        return "sums over several micro-batches have no factors, expected train.accumulate = 1";
      return "";
    },
    .as_factors = [](const LinearRange&, DType, const ExchangeTimes&) { return true; },
};

// Factors add up in another order than gradients, which gives other bits: where the order is fixed,
// gradients travel. Where ranks are processes, sums of small blocks overlap with the backward pass
// and the next forward pass better than factors do, so factors must be much faster.
const Payload auto_payload{
    .name = "auto",
    .doc =
        "factors where they are predicted to be faster between threads, 8 times as fast between "
        "processes; gradients otherwise, and always where order is fixed",
    .as_factors =
        [](const LinearRange& layer, DType dtype, const ExchangeTimes& times) {
          if (times.fixed_order) return false;
          const double times_faster = times.facts.shared_memory ? 1 : 8;
          return times_faster * times.of_factors(layer, dtype) < times.of_gradient(layer, dtype);
        },
};

}  // namespace tutti
