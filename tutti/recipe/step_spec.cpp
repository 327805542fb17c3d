// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/step_spec.h"

#include <algorithm>
#include <optional>

namespace tutti {
namespace {

SparseRows sparse_rows_named(const std::string& name) {
  if (name == "off") return SparseRows::off;
  return name == "lazy" ? SparseRows::lazy : SparseRows::exact;
}

// Nothing for "auto": the program decides.
std::optional<bool> on_or_off(const std::string& text) {
  if (text == "auto") return std::nullopt;
  return text == "on";
}

// A calibration is needed only to choose what is computed again. Several ranks must choose the
// same, so they do not use measurements, which may differ between their machines.
std::optional<Calibration> calibration_for(const Settings& memory, int threads,
                                           const TransportFacts& facts) {
  if (facts.size > 1 || (memory.text("limit") == "none" && memory.text("recompute") == "none"))
    return std::nullopt;
  const std::optional<Machine> machine = known_machine();
  const Calibration* calibration = machine ? machine->with_threads(threads) : nullptr;
  return calibration == nullptr ? std::nullopt : std::optional(*calibration);
}

}  // namespace

StepSpec step_spec(const Job& job, const NetInput& input, int threads,
                   const TransportFacts& facts) {
  const Settings& optimizer = job.table("optimizer");
  const Settings& exchange = job.table("exchange");
  const Settings& memory = job.table("memory");
  return {
      .build = [&job](const NetInput& asked) { return build_net(job, asked); },
      .input = input,
      .backend = job.table("machine").text("backend"),
      .selection = selection_of(job, threads),
      .threads = threads,
      .memory = {.recompute = memory.text("recompute"),
                 .every = static_cast<int>(memory.integer("every")),
                 .slots = static_cast<int>(memory.integer("slots")),
                 .limit_bytes = memory_limit(job)},
      .rules = job.lists.rules,
      .closing = {.update = {.rule = &job.rule,
                             .rule_settings = optimizer,
                             .local = job.local_rule,
                             .weight_decay = optimizer.real("weight_decay"),
                             .clip_value = optimizer.real("clip_value"),
                             .clip_norm = optimizer.real("clip_norm"),
                             .guarded = loss_scale_of(job).active(),
                             .sparse_rows = sparse_rows_named(optimizer.text("sparse_rows"))},
                  .scheme = job.scheme,
                  .accumulates = job.table("train").integer("accumulate") > 1},
      .without = job.without_passes,
      .messages = {.allreduce = exchange.text("allreduce"),
                   .reduce_scatter = exchange.text("reduce_scatter"),
                   .allgather = exchange.text("allgather"),
                   .node_ranks = static_cast<int>(exchange.integer("node_ranks")),
                   .fixed_order = job.scheme.fixed_order,
                   .overlap = exchange.flag("overlap"),
                   .across_steps = on_or_off(exchange.text("across_steps"))},
      .batch = std::max(job.table("train").integer("batch"), optimizer.integer("grow_batch_to")),
      .mesh = facts.size == 1 ? Mesh() : job.mesh(),
      .facts = facts,
      .calibration = calibration_for(memory, threads, facts)};
}

}  // namespace tutti
