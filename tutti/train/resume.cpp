// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/resume.h"

#include "tutti/recipe/make_job.h"
#include "tutti/train/trained_network.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace tutti {
namespace {

constexpr std::array identity_of_train = {"batch", "dtype", "last_batch", "order", "seed"};

// Whether a setting must be as it was in the checkpoint. A free text names a place, which may
// change from machine to machine; all other settings matter.
bool matters(const std::vector<Setting>& declared, const std::string& key) {
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [&](const Setting& setting) { return setting.name == key; });
  return found == declared.end() || !std::holds_alternative<std::string>(found->initial) ||
         !found->choices.empty();
}

std::string text_of(const Settings& settings, const std::string& key) {
  const auto found = settings.values().find(key);
  return found == settings.values().end() ? "absent" : to_string(found->second);
}

[[noreturn]] void refuse(const std::string& path, const std::string& key, const std::string& there,
                         const std::string& here) {
  throw Error(
      "{}.safetensors can't be resumed: '{}' was {} and is {} now; set it back, or train "
      "from the start without resume",
      path, key, there, here);
}

// Throws Error at the first setting that differs. Choices come first, since another choice, such as
// another rule, has other settings.
void compare(const std::string& path, const std::string& table, const Settings& there,
             const Settings& here, const std::vector<Setting>& declared) {
  const auto require_equal = [&](const std::string& key) {
    if (matters(declared, key) && text_of(there, key) != text_of(here, key))
      refuse(path, table + "." + key, text_of(there, key), text_of(here, key));
  };
  for (const char* choice : {"name", "type", "rule", "schedule", "loss"}) require_equal(choice);
  for (const Settings* side : {&there, &here})
    for (const auto& [key, value] : side->values()) require_equal(key);
}

// The recipe of a checkpoint with defaults for keys that did not exist when it was written.
Recipe with_defaults(Recipe recipe, const Job& job) {
  try {
    Recipe whole = recipe;
    whole.tables["train"].set("steps", std::int64_t{1});  // something must end a run
    return identity(make_job(whole, job.lists));
  } catch (const Error&) {
    return recipe;  // compare() will find what differs
  }
}

// The rate may differ from the checkpoint's: people lower it when the loss stands still.
Recipe without_rate(Recipe recipe) {
  recipe.tables["optimizer"].erase("rate");
  return recipe;
}

void require_same(const Job& job, const std::string& path, const CheckpointState& state,
                  const data::Dataset& dataset) {
  const auto note = [&](const char* name) {
    const auto found = state.notes.find(name);
    return found == state.notes.end() ? std::string() : found->second;
  };
  const Recipe there =
      without_rate(with_defaults(parse_recipe(note("recipe"), path + ".state"), job));
  const Recipe here = without_rate(identity(job));
  for (const auto& [table, settings] : here.tables) {
    const auto found = there.tables.find(table);
    compare(path, table, found == there.tables.end() ? Settings() : found->second, settings,
            table == "data" ? job.dataset.settings : std::vector<Setting>());
  }
  if (there.layers.size() != here.layers.size())
    refuse(path, "model.layers", fmt::format("{} layers", there.layers.size()),
           fmt::format("{} layers", here.layers.size()));
  for (std::size_t i = 0; i < here.layers.size(); ++i)
    compare(path, fmt::format("model.layers[{}]", i), there.layers[i], here.layers[i], {});
  if (const std::string count = std::to_string(dataset.count); note("samples") != count)
    refuse(path, "number of training samples", note("samples"), count);
  require_same_scaling(job, dataset, path);
}

Buffer host_copy(const Replica& replica, const RangeTable& table, const void* device) {
  Buffer host(table.count() * bytes_of(replica.dtype()));
  replica.device().copy_out(host.data(), device, host.bytes());
  return host;
}

// The mean of the vectors of all ranks, added in the order of ranks.
Buffer mean_of(const std::vector<Buffer>& vectors, DType dtype) {
  Buffer mean(vectors[0].bytes());
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    const auto at = [](const Buffer& vector, std::int64_t i) -> T& {
      return reinterpret_cast<T*>(vector.data())[i];
    };
    for (std::int64_t i = 0; i < mean.bytes() / static_cast<std::int64_t>(sizeof(T)); ++i) {
      T sum = at(vectors[0], i);
      for (std::size_t rank = 1; rank < vectors.size(); ++rank) sum += at(vectors[rank], i);
      at(mean, i) = sum / static_cast<T>(vectors.size());
    }
  });
  return mean;
}

// Weights and layer states of all ranks, put together on rank 0. All ranks must make one together.
struct Gathered {
  explicit Gathered(const Replica& replica)
      : weights(replica.gather_weights()), layer_states(replica.gather_layer_states()) {}
  Buffer mean_layer_state(const Replica& replica) const {
    return layer_states.empty()
               ? host_copy(replica, replica.layer_state_table(), replica.layer_state())
               : mean_of(layer_states, replica.dtype());
  }

  Buffer weights;
  std::vector<Buffer> layer_states;
};

}  // namespace

Recipe identity(const Job& job) {
  Recipe recipe{.file = job.recipe.file, .tables = {}, .layers = job.recipe.layers};
  for (const char* table : {"model", "data", "optimizer"}) recipe.tables[table] = job.table(table);
  for (const char* key : identity_of_train)
    recipe.tables["train"].set(key, job.table("train").values().find(key)->second);
  return recipe;
}

void save(const Job& job, const Replica& replica, const data::Dataset& dataset,
          const data::Sampler& sampler, std::int64_t step, bool writes,
          const std::map<std::string, std::string>& notes) {
  std::vector<Buffer> states;
  std::vector<const void*> pointers;
  for (int k = 0; k < replica.states(); ++k)
    pointers.push_back(states.emplace_back(replica.gather_state(k)).data());
  const Gathered gathered(replica);
  const Buffer carried = replica.gather_carried();
  if (!writes) return;
  const RangeTable carried_table = replica.carried_table();
  const Buffer layers = gathered.mean_layer_state(replica);
  LayerState layer_state{&replica.layer_state_table(), layers.data()};
  for (const Buffer& own : gathered.layer_states) layer_state.of_ranks.push_back(own.data());
  CheckpointState state{
      .step = step,
      .epoch = sampler.epoch(step),
      .position = sampler.position(step),
      .seed = sampler.sampling().seed,
      .notes = {{"recipe", to_toml(identity(job))}, {"samples", std::to_string(dataset.count)}}};
  state.notes.insert(notes.begin(), notes.end());
  write_checkpoint(job.checkpoint_path(), replica.table(), replica.dtype(), gathered.weights.data(),
                   pointers, state, layer_state, weights_metadata(job, dataset),
                   {&carried_table, carried.data()});
}

void save_weights(const Job& job, const Replica& replica, const data::Dataset& dataset,
                  const std::string& path, bool writes) {
  const Gathered gathered(replica);
  if (!writes) return;
  const Buffer layers = gathered.mean_layer_state(replica);
  write_weights(path, replica.table(), replica.dtype(), gathered.weights.data(),
                {&replica.layer_state_table(), layers.data()}, weights_metadata(job, dataset));
}

CheckpointState restore(const Job& job, Replica& replica, const data::Dataset& dataset) {
  const std::string path = job.checkpoint_path();
  if (path.empty())
    throw Error("{}: there is nothing to resume from: train.checkpoint is \"none\"",
                job.recipe.file);
  if (!std::filesystem::exists(path + ".safetensors"))
    throw Error(
        "there is no checkpoint {}.safetensors to resume from; train without resume first, "
        "or set train.checkpoint",
        path);
  require_same(job, path, read_checkpoint_state(path), dataset);
  const std::int64_t bytes = replica.table().count() * bytes_of(replica.dtype());
  const Buffer weights(bytes);
  const Buffer layers(replica.layer_state_table().count() * bytes_of(replica.dtype()));
  std::vector<Buffer> states;
  std::vector<void*> pointers;
  for (int k = 0; k < replica.states(); ++k) pointers.push_back(states.emplace_back(bytes).data());
  const RangeTable carried_table = replica.carried_table();
  const Buffer carried(carried_table.count() * bytes_of(replica.dtype()));
  CheckpointState state = read_checkpoint(
      path, replica.table(), replica.dtype(), weights.data(), pointers,
      {&replica.layer_state_table(), layers.data(), {}, replica.rank(), replica.ranks()},
      {&carried_table, carried.data()});
  const auto copy_in = replica.device().copy_in;
  replica.set_weights(weights);
  copy_in(replica.layer_state(), layers.data(), layers.bytes());
  for (int k = 0; k < replica.states(); ++k)
    replica.set_state(k, states[static_cast<std::size_t>(k)]);
  replica.set_carried(carried);
  return state;
}

std::string change_of_rate(const Job& job, const CheckpointState& state) {
  const auto note = state.notes.find("recipe");
  if (note == state.notes.end()) return "";
  const Recipe recipe = parse_recipe(note->second, "the checkpoint");
  const auto table = recipe.tables.find("optimizer");
  if (table == recipe.tables.end()) return "";
  const std::string before = text_of(table->second, "rate");
  const std::string now = text_of(job.table("optimizer"), "rate");
  return before == now ? ""
                       : fmt::format("optimizer.rate was {} and is {} from here on", before, now);
}

void load_weights(const std::string& path, Replica& replica) {
  const Buffer weights(replica.table().count() * bytes_of(replica.dtype()));
  const Buffer layers(replica.layer_state_table().count() * bytes_of(replica.dtype()));
  read_weights(path, replica.table(), replica.dtype(), weights.data(),
               {&replica.layer_state_table(), layers.data()});
  replica.device().copy_in(replica.layer_state(), layers.data(), layers.bytes());
  replica.set_weights(weights);
}

}  // namespace tutti
