// SPDX-License-Identifier: Apache-2.0
// SVRG (I22; Johnson and Zhang 2013): from a rank's gradient the gradient of the same samples at a
// snapshot of the weights is subtracted, and the rank's part of the full gradient at the snapshot
// is added. train/svrg.h takes the snapshot and fills the three vectors: the snapshot and the full
// gradient, which are saved, and this step's gradient at the snapshot, which is not.
#include "tutti/exchange/block_nodes.h"
#include "tutti/exchange/local_rules/local_rule.h"
#include "tutti/exchange/scheme.h"
#include "tutti/ops/correct.h"

namespace tutti {
namespace {

constexpr int full_gradient = 1, gradient_there = 2;
constexpr std::int64_t two_epochs = 0;

}  // namespace

extern const LocalRule svrg_rule;

const LocalRule svrg_rule{
    .name = "svrg",
    .doc =
        "the gradient is corrected by that of a snapshot of the weights and its mean over the "
        "data",
    .settings = {{.name = "snapshot_every",
                  .initial = two_epochs,
                  .doc = "steps from one snapshot to the next; 0: twice the steps of an epoch",
                  .min = 0,
                  .max = 1e15}},
    .objection = [](const Scheme& scheme, const SchemeUse& use) -> std::string {
      if (use.augments)
        return "it needs samples that stay the same, expected no augmentation in [data]";
      if (use.micro_batches > 1)
        return "it corrects the gradient of a whole batch, expected train.accumulate = 1";
      if (use.scales_loss)
        return "it adds gradients of several steps, expected train.loss_scale = \"none\"";
      if (scheme.store.keeps_parts)
        return "it needs whole weights and gradients, expected exchange.store all or sharded";
      return "";
    },
    .saved = 2,
    .unsaved = 1,
    .change =
        [](BlockNodes& nodes, FilledBlock& filled, int first_state, double part) {
          const ValueId all = nodes.joined(filled);
          const auto vector = [&](int k) {
            return nodes.whole_block("svrg", filled.block, Base::optimizer + first_state + k);
          };
          const ValueId there = vector(gradient_there), mean = vector(full_gradient);
          filled.gradients = {
              nodes.graph().add1(ops::correct, {all, there, mean}, {{"part", part}})};
          nodes.finish_filling(filled);
        },
};

}  // namespace tutti
