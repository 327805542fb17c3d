// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/conditions.h"

#include "tutti/comm/sim/faults.h"
#include "tutti/data/augment.h"
#include "tutti/kernels/backends.h"
#include "tutti/recipe/fault.h"
#include "tutti/recipe/simulation.h"

namespace tutti {
namespace {

void check_ends(const Job& job, const Recipe& given) {
  const Settings& train = job.table("train");
  const bool length = train.integer("epochs") > 0 || train.integer("steps") > 0;
  if (!length && train.real("wall_time") == 0 && train.real("target") == 0)
    throw Error(
        "{}: nothing ends the run, expected one of 'epochs', 'steps', 'wall_time', 'target'",
        place_of(given, "train"));
  if (train.real("target") > 0 && train.integer("evaluate_every") == 0)
    throw Error(
        "{}: 'target' is {}, but 'evaluate_every' is 0: without evaluation it is never seen",
        place_of(given, "train", "target"), train.real("target"));
  if (train.integer("patience") > 0 &&
      (train.integer("evaluate_every") == 0 || train.text("watch") == "none"))
    throw Error(
        "{}: 'patience' is {}, but 'evaluate_every' is 0 or 'watch' is none: nothing is seen",
        place_of(given, "train", "patience"), train.integer("patience"));
  if (!length && job.schedule.needs_total)
    throw Error(
        "{}: schedule '{}' needs the length of the run, expected 'epochs' or 'steps' in "
        "[train]",
        place_of(given, "optimizer", "schedule"), job.schedule.name);
}

void check_batch(const Job& job, const Recipe& given) {
  const std::int64_t batch = job.table("train").integer("batch");
  if (batch < job.ranks())
    throw Error(
        "{}: 'data' is {} ranks, but a batch has {} samples (train.batch): expected at least "
        "one for each rank",
        place_of(given, "partition", "data"), job.ranks(), batch);
  const std::int64_t micro_batches = job.table("train").integer("accumulate");
  if (batch < micro_batches * job.ranks())
    throw Error(
        "{}: 'accumulate' is {} micro-batches of {} rank{}, but a batch has {} samples: expected "
        "at least "
        "one for each rank and micro-batch",
        place_of(given, "train", "accumulate"), micro_batches, job.ranks(),
        job.ranks() == 1 ? "" : "s", batch);
}

void check_growth(const Job& job, const Recipe& given) {
  const Settings& train = job.table("train");
  const std::int64_t most = job.table("optimizer").integer("grow_batch_to");
  if (most == 0) return;
  if (most < train.integer("batch"))
    throw Error("{}: 'grow_batch_to' is {}, expected at least train.batch ({})",
                place_of(given, "optimizer", "grow_batch_to"), most, train.integer("batch"));
  const bool by_variance = job.table("optimizer").real("batch_from_variance") > 0;
  const bool epochs = train.integer("epochs") > 0, steps = train.integer("steps") > 0;
  // How many steps an epoch has depends on the batches, which depend on the number of steps.
  if (job.schedule.needs_total && (epochs || !steps))
    throw Error(
        "{}: 'grow_batch_to' under schedule '{}' needs the number of updates, expected 'steps' and "
        "no 'epochs' in [train]",
        place_of(given, "optimizer", "grow_batch_to"), job.schedule.name);
  if (!epochs && !steps && !by_variance)
    throw Error(
        "{}: 'grow_batch_to' needs the length of the run, expected 'epochs' or 'steps' in [train]",
        place_of(given, "optimizer", "grow_batch_to"));
}

void check_batch_from_variance(const Job& job, const Recipe& given) {
  const Settings& optimizer = job.table("optimizer");
  if (optimizer.real("batch_from_variance") == 0) return;
  const std::string place = place_of(given, "optimizer", "batch_from_variance");
  const std::int64_t batch = job.table("train").integer("batch");
  if (const std::int64_t most = optimizer.integer("grow_batch_to"); most < 2 * batch)
    throw Error(
        "{}: 'batch_from_variance' multiplies train.batch ({}), but 'grow_batch_to' is {}: "
        "expected at least {}",
        place, batch, most, 2 * batch);
  if (job.table("train").integer("accumulate") < 2)
    throw Error(
        "{}: 'batch_from_variance' compares the gradients of a step's micro-batches, expected "
        "train.accumulate of 2 or more",
        place);
}

void check_scaling(const Job& job, const Recipe& given) {
  const Settings& optimizer = job.table("optimizer");
  const bool scales = optimizer.text("scaling") != "none";
  if (scales != (optimizer.integer("base_batch") > 0))
    throw Error("{}: 'scaling' is \"{}\" and 'base_batch' is {}, expected both or neither",
                place_of(given, "optimizer", scales ? "scaling" : "base_batch"),
                optimizer.text("scaling"), optimizer.integer("base_batch"));
}

void check_fault(const Job& job, const Recipe& given) {
  try {
    fault_named(job.table("machine").text("fault"));
  } catch (const Error& error) {
    throw Error("{}: {}", place_of(given, "machine", "fault"), error.what());
  }
}

// Lower precisions round products of floats; products of doubles are never rounded to fewer bits.
void check_precision(const Job& job, const Recipe& given) {
  const std::string& precision = job.table("kernels").text("precision");
  if (precision != "f32" && job.table("train").text("dtype") != "f32")
    throw Error("{}: 'precision' is \"{}\", which needs train.dtype = \"f32\", not \"{}\"",
                place_of(given, "kernels", "precision"), precision,
                job.table("train").text("dtype"));
}

void check_loss_scale(const Job& job, const Recipe& given) {
  try {
    loss_scale_of(job);
  } catch (const Error& error) {
    throw Error("{}: {}", place_of(given, "train", "loss_scale"), error.what());
  }
}

void check_simulation(const Job& job, const Recipe& given) {
  const auto require = [&](const char* key, const auto& read) {
    try {
      read(job.table("simulation").text(key));
    } catch (const Error& error) {
      throw Error("{}: {}", place_of(given, "simulation", key), error.what());
    }
  };
  require("slow", slow_ranks);
  require("faults", sim::faults_named);
}

// The entries of the scheme say themselves what they can't be used with.
void check_scheme(const Job& job, const Recipe& given) {
  const Scheme& scheme = job.scheme;
  const SchemeUse use{
      .dtype = job.dtype(),
      .micro_batches = job.table("train").integer("accumulate"),
      .scales_loss = loss_scale_of(job).active(),
      .augments = data::augmentation_of(job.table("data")).any(),
      .needs_norms = job.table("optimizer").real("clip_norm") > 0 || job.rule.measure != nullptr,
      .changes_batch = job.table("optimizer").real("batch_from_variance") > 0,
      .local_rule = job.local_rule.name};
  const auto require = [&](const char* table, const char* key, const auto& entry) {
    const std::string why = entry.objection == nullptr ? "" : entry.objection(scheme, use);
    if (!why.empty())
      throw Error("{}: '{}' is \"{}\", but {}", place_of(given, table, key), key, entry.name, why);
  };
  require("optimizer", "variance_reduction", job.local_rule);
  require("exchange", "gate", scheme.gate);
  require("exchange", "trigger", scheme.trigger);
  require("exchange", "store", scheme.store);
  require("exchange", "payload", scheme.payload);
  require("exchange", "merge", scheme.merge);
  require("codec", "name", scheme.codec);
}

void check_backend(const Job& job, const Recipe& given) {
  const Settings& machine = job.table("machine");
  const BackendEntry backend = backends().find(machine.text("backend"));
  require_available(backend);
  if (machine.text("transport") == "sim" && !backend.host)
    throw Error(
        "{}: back end '{}' does its work while time goes on, but transport = \"sim\" has a virtual "
        "clock; expected a back end of the host, such as cpu",
        place_of(given, "machine", "backend"), backend.name);
}

}  // namespace

void check_conditions(const Job& job, const Recipe& given) {
  check_ends(job, given);
  check_backend(job, given);
  check_batch(job, given);
  memory_limit(job);
  check_scaling(job, given);
  check_growth(job, given);
  check_batch_from_variance(job, given);
  check_precision(job, given);
  check_loss_scale(job, given);
  check_scheme(job, given);
  check_fault(job, given);
  check_simulation(job, given);
}

}  // namespace tutti
