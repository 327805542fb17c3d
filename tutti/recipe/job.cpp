// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/job.h"

#include "tutti/core/bytes.h"
#include "tutti/core/cores.h"
#include "tutti/data/augment.h"
#include "tutti/nn/freeze.h"
#include "tutti/parallel/partition.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace tutti {
namespace {

std::string output_path(const Job& job, const char* key, const char* name) {
  const std::string& path = job.table("train").text(key);
  if (path == "none") return "";
  return path.empty() ? fmt::format("{}/{}", job.folder, name) : path;
}

// The settings of the [model] table that `declared` names.
Settings model_settings(const Job& job, const std::vector<Setting>& declared) {
  Settings settings;
  for (const Setting& setting : declared)
    settings.set(setting.name, job.table("model").values().find(setting.name)->second);
  return settings;
}

}  // namespace

const Settings& Job::table(std::string_view table_name) const {
  const auto found = recipe.tables.find(table_name);
  check(found != recipe.tables.end(), "a job has every table");
  return found->second;
}

Mesh Job::mesh() const {
  return data_mesh(static_cast<int>(table("partition").integer(data_axis)));
}
DType Job::dtype() const { return dtype_named(table("train").text("dtype")); }
std::string Job::checkpoint_path() const {
  std::string path = output_path(*this, "checkpoint", "checkpoint");
  if (constexpr std::string_view ending = ".safetensors"; path.ends_with(ending))
    path.resize(path.size() - ending.size());
  return path;
}
std::string Job::record_path() const { return output_path(*this, "record", "record.jsonl"); }

std::string resolved_recipe(const Job& job) { return to_toml(job.recipe); }

std::unique_ptr<data::Dataset> open_data(const Job& job, data::Split split) {
  try {
    auto dataset = job.dataset.open(job.table("data"), split);
    data::augmentation_of(job.table("data")).require_fit(dataset->sample_shape());
    return dataset;
  } catch (const Error& error) {
    throw Error("{}: {}", place_of(job.recipe, "data"), error.what());
  }
}

NetInput net_input(const Job& job, const data::Dataset& dataset) {
  return {.fields = dataset.fields,
          .classes = dataset.classes,
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

LossScale loss_scale_of(const Job& job) {
  return {job.table("train"), job.table("kernels").text("precision")};
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

bool on_virtual_clock(const Job& job) { return job.table("machine").text("transport") == "sim"; }

int threads_per_rank(const Job& job, int ranks) {
  const auto given = static_cast<int>(job.table("machine").integer("threads"));
  return given > 0 ? given : std::max(1, available_cores() / ranks);
}

}  // namespace tutti
