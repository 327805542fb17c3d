// SPDX-License-Identifier: Apache-2.0
// Choices come first, since they decide which further keys a table may hold; then each table is
// resolved as a whole; last come conditions between tables.
#include "tutti/train/job.h"

#include "tutti/comm/sim/faults.h"
#include "tutti/core/bytes.h"
#include "tutti/data/augment.h"
#include "tutti/nn/freeze.h"
#include "tutti/train/fault.h"
#include "tutti/train/loss_scale.h"
#include "tutti/train/machine.h"
#include "tutti/train/simulation.h"
#include "tutti/train/svrg.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace tutti {
namespace {

// "file.toml:7: [train]", where a key or else its table was written.
std::string place_of(const Recipe& recipe, const std::string& table, const std::string& key = "") {
  for (const std::string& name : {table + "." + key, table})
    if (const auto found = recipe.origins.find(name); found != recipe.origins.end())
      return fmt::format("{}: [{}]", found->second, table);
  return fmt::format("{}: [{}]", recipe.file, table);
}

const Setting& setting_named(const std::vector<Setting>& declared, std::string_view name) {
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  check(found != declared.end(), "the setting is declared");
  return *found;
}

// The entry of the list that `key` of a table names.
template <class Entry>
const Entry& chosen(const Settings& given, const std::vector<Setting>& declared,
                    const std::string& key, const List<Entry>& list, const std::string& place) {
  const Setting& setting = setting_named(declared, key);
  if (!given.has(key) && setting.required)
    throw Error("{}: '{}' is missing{}", place, key, suggestion("", setting.choices));
  const SettingValue& value = given.has(key) ? given.values().find(key)->second : setting.initial;
  return list.find(std::get<std::string>(conform(setting, value, place)));
}

// Where --set has put another entry of the list into a table, the keys of the one before go with
// it.
template <class Entry>
void leave_out_replaced(Recipe& recipe, const Lists& lists, const std::string& table,
                        const std::string& key, const List<Entry>& list,
                        std::vector<std::string>& remarks) {
  const auto replaced = recipe.replaced.find(fmt::format("{}.{}", table, key));
  if (replaced == recipe.replaced.end()) return;
  const std::vector<Setting> common = declared_settings(lists, table);
  Settings& given = recipe.tables[table];
  const Setting& setting = setting_named(common, key);
  const std::string& before = replaced->second.empty() && !setting.required
                                  ? std::get<std::string>(setting.initial)
                                  : replaced->second;
  const SettingValue now = given.values().find(key)->second;
  if (!list.has(before) || now == SettingValue(before)) return;
  std::vector<std::string> left_out;
  for (const Setting& old : list.find(before).settings) {
    const std::string name = fmt::format("{}.{}", table, old.name);
    if (!given.has(old.name) || recipe.replaced.count(name) > 0) continue;
    given.erase(old.name);
    left_out.push_back(name);
  }
  if (!left_out.empty())
    remarks.push_back(
        fmt::format("{}.{} is {} now; what the recipe said for \"{}\" is left out: {}", table, key,
                    to_string(now), before, fmt::join(left_out, ", ")));
}

class Tables {
 public:
  Tables(const Recipe& recipe, const Lists& lists) : recipe_(recipe), lists_(lists) {
    for (const std::string& table : recipe_tables())
      declared_[table] = declared_settings(lists, table);
  }

  // What [table] key names; what the entry declares is allowed in the table from now on.
  template <class Entry>
  const Entry& choose(const std::string& table, const std::string& key, const List<Entry>& list) {
    std::vector<Setting>& declared = declared_[table];
    const auto given = recipe_.tables.find(table);
    const Entry& entry = chosen(given == recipe_.tables.end() ? Settings() : given->second,
                                declared, key, list, place_of(recipe_, table, key));
    declared.insert(declared.end(), entry.settings.begin(), entry.settings.end());
    return entry;
  }

  // Its own layers need no name of a model.
  void name_own_layers() {
    if (recipe_.layers.empty()) return;
    Setting& name = declared_["model"][0];
    name.required = false;
    name.initial = std::string("layers");
    const auto given = recipe_.tables.find("model");
    if (given == recipe_.tables.end() || !given->second.has("name")) return;
    if (given->second.values().find("name")->second != name.initial)
      throw Error("{}: 'name' and [[model.layers]] are both there, expected one of them",
                  place_of(recipe_, "model", "name"));
  }

  Recipe resolve() const {
    Recipe resolved = recipe_;
    for (const auto& [table, declared] : declared_)
      resolved.tables[table] = resolve_table(recipe_, table, declared);
    for (std::size_t i = 0; i < recipe_.layers.size(); ++i)
      resolved.layers[i] = resolve_layer(recipe_, i, layer_settings(i));
    return resolved;
  }

 private:
  std::vector<Setting> layer_settings(std::size_t index) const {
    const Setting type{.name = "type",
                       .initial = std::string(),
                       .doc = "which layer",
                       .choices = lists_.layers.names(),
                       .required = true};
    const std::string name = fmt::format("model.layers[{}]", index);
    const auto origin = recipe_.origins.find(name + ".type");
    const auto whole = recipe_.origins.find(name);
    const std::string file = origin != recipe_.origins.end()  ? origin->second
                             : whole != recipe_.origins.end() ? whole->second
                                                              : recipe_.file;
    return table_settings(chosen(recipe_.layers[index], {type}, "type", lists_.layers,
                                 fmt::format("{}: [[model.layers]]", file)));
  }

  const Recipe& recipe_;
  const Lists& lists_;
  std::map<std::string, std::vector<Setting>> declared_;
};

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
  const std::int64_t passes = job.table("train").integer("accumulate");
  if (batch < passes * job.ranks())
    throw Error(
        "{}: 'accumulate' is {} passes of {} rank{}, but a batch has {} samples: expected at least "
        "one for each rank and pass",
        place_of(given, "train", "accumulate"), passes, job.ranks(), job.ranks() == 1 ? "" : "s",
        batch);
}

std::int64_t memory_limit(const Job& job) {
  const std::string& limit = job.table("memory").text("limit");
  if (limit == "none") return 0;
  const std::optional<std::int64_t> bytes = bytes_in(limit);
  if (!bytes || *bytes == 0)
    throw Error("{}: 'limit' is \"{}\", expected bytes such as 512MB, or none",
                place_of(job.recipe, "memory", "limit"), limit);
  return *bytes;
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
  // How many steps an epoch has depends on the batches, and those on the number of steps.
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
        "{}: 'batch_from_variance' compares the gradients of a step's passes, expected "
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

bool reduces_variance(const Job& job) {
  return job.table("optimizer").text("variance_reduction") == "svrg";
}

void check_fault(const Job& job, const Recipe& given) {
  try {
    fault_named(job.table("machine").text("fault"));
  } catch (const Error& error) {
    throw Error("{}: {}", place_of(given, "machine", "fault"), error.what());
  }
}

// In double nothing would be rounded.
void check_precision(const Job& job, const Recipe& given) {
  const std::string& precision = job.table("kernels").text("precision");
  if (precision != "f32" && job.table("train").text("dtype") != "f32")
    throw Error("{}: 'precision' is \"{}\", which needs train.dtype = \"f32\", not \"{}\"",
                place_of(given, "kernels", "precision"), precision,
                job.table("train").text("dtype"));
}

SparseRows sparse_rows_named(const std::string& name) {
  if (name == "off") return SparseRows::off;
  return name == "lazy" ? SparseRows::lazy : SparseRows::exact;
}

LossScale loss_scale_of(const Job& job) {
  return {job.table("train"), job.table("kernels").text("precision")};
}

void check_loss_scale(const Job& job, const Recipe& given) {
  try {
    if (loss_scale_of(job).active() && reduces_variance(job))
      throw Error("svrg adds gradients of several steps, expected loss_scale = \"none\"");
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

void check_svrg(const Job& job, const Recipe& given) {
  if (reduces_variance(job) && data::augmentation_of(job.table("data")).any())
    throw Error("{}: svrg needs samples that stay the same, expected no augmentation in [data]",
                place_of(given, "optimizer", "variance_reduction"));
  if (reduces_variance(job) && job.table("train").integer("accumulate") > 1)
    throw Error("{}: svrg corrects the gradient of a whole batch, expected 'accumulate' = 1",
                place_of(given, "train", "accumulate"));
  if (reduces_variance(job) && job.table("exchange").text("shard") == "parameters")
    throw Error("{}: svrg needs whole weights and gradients, expected 'shard' none or optimizer",
                place_of(given, "exchange", "shard"));
}

void check_exchange_precision(const Job& job, const Recipe& given) {
  if (job.table("exchange").text("precision") == "full") return;
  const auto refuse = [&](const char* why) {
    throw Error("{}: {}, expected 'precision' = \"full\"", place_of(given, "exchange", "precision"),
                why);
  };
  if (job.dtype() == DType::f64) refuse("gradients of train.dtype = \"f64\" travel as they are");
  if (reduces_variance(job)) refuse("svrg corrects gradients that were not rounded");
}

void check_factors(const Job& job, const Recipe& given) {
  const Settings& exchange = job.table("exchange");
  if (exchange.text("factors") != "always") return;
  const auto refuse = [&](const char* why) {
    throw Error("{}: {}, expected 'factors' auto or never", place_of(given, "exchange", "factors"),
                why);
  };
  if (exchange.text("order") == "fixed") refuse("factors are multiplied in an order of their own");
  if (exchange.text("precision") != "full") refuse("factors are not rounded (precision)");
  if (exchange.text("shard") == "parameters") refuse("gradients in parts are summed (shard)");
  if (job.table("train").integer("accumulate") > 1)
    refuse("sums over several passes have no factors (train.accumulate)");
}

// Where it is left to the cost model: what is usual, until that has been asked (block_size.h).
std::int64_t block_bytes_of(const Settings& exchange) {
  const std::int64_t given = exchange.integer("block_bytes");
  return given > 0 ? given : StepClosing{}.block_bytes;
}

std::string output_path(const Job& job, const char* key, const char* name) {
  const std::string& path = job.table("train").text(key);
  if (path == "none") return "";
  return path.empty() ? fmt::format("{}/{}", job.folder, name) : path;
}

// Those of the [model] table that `declared` names.
Settings model_settings(const Job& job, const std::vector<Setting>& declared) {
  Settings settings;
  for (const Setting& setting : declared)
    settings.set(setting.name, job.table("model").values().find(setting.name)->second);
  return settings;
}

// Neither: as it seems best.
std::optional<bool> on_or_off(const std::string& text) {
  if (text == "auto") return std::nullopt;
  return text == "on";
}

}  // namespace

const Settings& Job::table(std::string_view table_name) const {
  const auto found = recipe.tables.find(table_name);
  check(found != recipe.tables.end(), "a job has every table");
  return found->second;
}

int Job::ranks() const { return static_cast<int>(table("partition").integer("data")); }
DType Job::dtype() const { return dtype_named(table("train").text("dtype")); }
std::string Job::checkpoint_path() const {
  std::string path = output_path(*this, "checkpoint", "checkpoint");
  if (constexpr std::string_view ending = ".safetensors"; path.ends_with(ending))
    path.resize(path.size() - ending.size());
  return path;
}
std::string Job::record_path() const { return output_path(*this, "record", "record.jsonl"); }

Job make_job(const Recipe& given, const Lists& lists) {
  Recipe recipe = given;
  std::vector<std::string> remarks;
  const auto leave_out = [&](const char* table, const char* key, const auto& list) {
    leave_out_replaced(recipe, lists, table, key, list, remarks);
  };
  leave_out("model", "name", lists.models);
  leave_out("model", "loss", lists.losses);
  leave_out("data", "name", lists.datasets);
  leave_out("optimizer", "rule", lists.rules);
  leave_out("optimizer", "schedule", lists.schedules);
  Tables tables(recipe, lists);
  tables.name_own_layers();
  const Model& model = tables.choose("model", "name", lists.models);
  const Loss& loss = tables.choose("model", "loss", lists.losses);
  const data::DatasetEntry& dataset = tables.choose("data", "name", lists.datasets);
  const Rule& rule = tables.choose("optimizer", "rule", lists.rules);
  const Schedule& schedule = tables.choose("optimizer", "schedule", lists.schedules);
  const Gate& gate = tables.choose("exchange", "gate", lists.gates);
  const Trigger& trigger = tables.choose("exchange", "trigger", lists.triggers);
  Job job{.name = std::filesystem::path(recipe.file).stem().string(),
          .recipe = tables.resolve(),
          .lists = lists,
          .model = model,
          .loss = loss,
          .dataset = dataset,
          .rule = rule,
          .schedule = schedule,
          .gate = gate,
          .trigger = trigger};
  job.remarks = std::move(remarks);
  check_ends(job, recipe);
  check_batch(job, recipe);
  memory_limit(job);
  check_scaling(job, recipe);
  check_growth(job, recipe);
  check_batch_from_variance(job, recipe);
  check_precision(job, recipe);
  check_loss_scale(job, recipe);
  check_svrg(job, recipe);
  check_exchange_precision(job, recipe);
  check_factors(job, recipe);
  check_fault(job, recipe);
  check_simulation(job, recipe);
  return job;
}

std::string resolved_recipe(const Job& job) { return to_toml(job.recipe); }

std::unique_ptr<data::Dataset> open_data(const Job& job, data::Split split) {
  try {
    auto dataset = job.dataset.open(job.table("data"), split);
    data::augmentation_of(job.table("data")).require_fit(dataset->sample_shape);
    return dataset;
  } catch (const Error& error) {
    throw Error("{}: {}", place_of(job.recipe, "data"), error.what());
  }
}

NetInput net_input(const Job& job, const data::Dataset& dataset) {
  return {.sample_shape = dataset.sample_shape,
          .classes = dataset.classes,
          .target_shape = dataset.target_shape,
          .target_scale = dataset.target_scaling.std,
          .dtype = job.dtype(),
          .loss = job.loss,
          .loss_settings = model_settings(job, job.loss.settings)};
}

Net build_net(const Job& job, const NetInput& input) {
  Net net = job.recipe.layers.empty()
                ? build_net(job.model, model_settings(job, job.model.settings), input,
                            place_of(job.recipe, "model", "name"))
                : build_net(job.lists.layers, job.recipe.layers, input,
                            fmt::format("{}: [[model.layers]]", job.recipe.file));
  freeze(net, job.table("model").text("freeze"), place_of(job.recipe, "model", "freeze"));
  return net;
}

Selection selection_of(const Job& job, int threads) {
  const Settings& kernels = job.table("kernels");
  const std::int64_t limit = kernels.integer("workspace");
  Selection selection{.convolution = kernels.text("convolution"),
                      .mode = selection_mode(kernels.text("select")),
                      .cache_file = default_variant_cache(),
                      .threads = threads,
                      .precision = kernels.text("precision"),
                      .micro_batches = kernels.flag("micro_batches")};
  if (limit >= 0) selection.workspace_bytes = limit;
  return selection;
}

ReplicaOptions replica_options(const Job& job, const NetInput& input, int threads,
                               Communicator* communicator) {
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
      .extra_states = reduces_variance(job) ? Svrg::states : 0,
      .closing = {.rule = &job.rule,
                  .rule_settings = optimizer,
                  .weight_decay = optimizer.real("weight_decay"),
                  .clip_value = optimizer.real("clip_value"),
                  .clip_norm = optimizer.real("clip_norm"),
                  .guarded = loss_scale_of(job).active(),
                  // Svrg needs whole gradients.
                  .sparse_rows = reduces_variance(job)
                                     ? SparseRows::off
                                     : sparse_rows_named(optimizer.text("sparse_rows")),
                  .block_bytes = block_bytes_of(exchange),
                  // Svrg corrects whole gradients; who updates changes no result.
                  .shard = exchange.text("shard") != "none" && !reduces_variance(job),
                  .shard_parameters = exchange.text("shard") == "parameters",
                  .accumulates = job.table("train").integer("accumulate") > 1,
                  .bf16 = exchange.text("precision") == "bf16"},
      .without = job.without_passes,
      .messages = {.communicator = communicator,
                   .allreduce = exchange.text("allreduce"),
                   .reduce_scatter = exchange.text("reduce_scatter"),
                   .allgather = exchange.text("allgather"),
                   .node_ranks = static_cast<int>(exchange.integer("node_ranks")),
                   .fixed_order = exchange.text("order") == "fixed",
                   .overlap = exchange.flag("overlap"),
                   .across_steps = on_or_off(exchange.text("across_steps"))},
      .factors = factors_named(exchange.text("factors")),
      .batch = std::max(job.table("train").integer("batch"), optimizer.integer("grow_batch_to")),
      .seconds = virtual_seconds(job, threads)};
}

int threads_per_rank(const Job& job, int ranks) {
  const auto given = static_cast<int>(job.table("machine").integer("threads"));
  return given > 0 ? given : std::max(1, available_cores() / ranks);
}

}  // namespace tutti
