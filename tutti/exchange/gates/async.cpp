// SPDX-License-Identifier: Apache-2.0
// Asynchronous training (E04): no rank waits for another. Each pushes its gradient to the store and
// goes on with the weights that come back, which others have changed meanwhile.
#include "tutti/exchange/scheme.h"

namespace tutti {

extern const Gate async_gate;

const Gate async_gate{
    .name = "async",
    .doc =
        "no rank waits for another: the store applies gradients as they come and answers with "
        "new weights",
    .objection = [](const Scheme& scheme, const SchemeUse& use) -> std::string {
      if (scheme.store.push == nullptr)
        return "ranks meet at this store in every step, expected exchange.store = \"sharded\"";
      if (scheme.codec.encode != nullptr)
        return "the store takes plain gradients, expected codec.name = \"none\"";
      if (scheme.payload.name == "factors")
        return "factors are gathered in every step, expected exchange.payload = \"gradient\"";
      if (use.needs_norms)
        return "norms are over all ranks, expected no clip_norm and no trust ratios in [optimizer]";
      if (use.scales_loss) return "the loss is not scaled, expected train.loss_scale = \"none\"";
      if (use.local_rule != "none")
        return "all take a snapshot together, expected optimizer.variance_reduction = \"none\"";
      if (use.changes_batch) return "ranks agree on the batch, expected no batch_from_variance";
      return "";
    },
    .meets = false,
    .may_begin = [](const Settings&, const Clocks&) { return true; },
};

}  // namespace tutti
