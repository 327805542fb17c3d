// SPDX-License-Identifier: Apache-2.0
// The protocol: write NAME.safetensors.new, write NAME.state.new with the checksum of the weights,
// rename the weights, rename the state. A reader takes NAME.state or NAME.state.new, whichever was
// written with the weights that it finds, so a crash between the renames loses nothing.
#include "tutti/checkpoint/checkpoint.h"

#include "tutti/core/error.h"
#include "tutti/core/output_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* weights_checksum_key = "weights_crc32";
constexpr const char* layer_state_ranks_key = "layer_state_ranks";
constexpr std::string_view note_prefix = "note.";

struct Files {
  std::string weights, state, new_weights, new_state;
};

Files files_of(std::string_view path) {
  constexpr std::string_view ending = ".safetensors";
  if (path.ends_with(ending)) path.remove_suffix(ending.size());
  const std::string name(path);
  return {name + ".safetensors", name + ".state", name + ".safetensors.new", name + ".state.new"};
}

std::string state_name(std::size_t index, const std::string& parameter) {
  return fmt::format("optimizer.{}.{}", index, parameter);
}

std::string layer_state_name(std::int64_t rank, const std::string& name) {
  return fmt::format("rank.{}.{}", rank, name);
}

std::string carried_name(const std::string& name) { return "carried." + name; }

// Views of the ranges of a flat vector under the names that `name_of_range` gives.
template <class Name>
void add_tensors(std::vector<NamedTensor>& tensors, const RangeTable& table, DType dtype,
                 const void* flat, Name&& name_of_range) {
  const std::byte* base = static_cast<const std::byte*>(flat);
  for (const Range& range : table.ranges) {
    check(range.shape == range.global_shape, "a checkpoint is written from whole tensors");
    // The writer only reads.
    void* data = const_cast<std::byte*>(base + range.offset * bytes_of(dtype));
    tensors.push_back({name_of_range(range.name), {dtype, range.shape, data}});
  }
}

// What NAME.safetensors holds.
std::vector<NamedTensor> weight_tensors(const RangeTable& table, DType dtype, const void* w,
                                        const LayerState& layers) {
  const auto own_name = [](const std::string& name) { return name; };
  std::vector<NamedTensor> weights;
  add_tensors(weights, table, dtype, w, own_name);
  if (layers.table != nullptr) add_tensors(weights, *layers.table, dtype, layers.s, own_name);
  return weights;
}

// Copies one tensor of the file into its range. Throws Error unless it has the expected type and
// shape.
void fill(const SafetensorsFile& file, const std::string& name, const Range& range, DType dtype,
          void* flat) {
  const Tensor* tensor = file.find(name);
  if (tensor == nullptr)
    throw Error(
        "{} has no tensor '{}', expected {} {}: it was written by another model or update "
        "rule",
        file.path, name, name_of(dtype), to_string(range.shape));
  if (tensor->dtype != dtype || tensor->shape != range.shape)
    throw Error("{}: tensor '{}' is {} {}, expected {} {}: it was written by another model",
                file.path, name, name_of(tensor->dtype), to_string(tensor->shape), name_of(dtype),
                to_string(range.shape));
  std::memcpy(static_cast<std::byte*>(flat) + range.offset * bytes_of(dtype), tensor->data,
              static_cast<std::size_t>(tensor->bytes()));
}

void refuse_others(const SafetensorsFile& file, std::size_t expected, const auto& is_expected) {
  if (file.tensors.size() == expected) return;
  for (const NamedTensor& entry : file.tensors)
    if (!is_expected(entry.name))
      throw Error("{} has a tensor '{}' ({} {}) that this model or update rule does not have",
                  file.path, entry.name, name_of(entry.tensor.dtype),
                  to_string(entry.tensor.shape));
}

void fill_weights(const SafetensorsFile& file, const RangeTable& table, DType dtype, void* w,
                  const LayerState& layers) {
  std::vector<std::string> names;
  const auto fill_all = [&](const RangeTable& from, void* flat) {
    for (const Range& range : from.ranges) {
      fill(file, range.name, range, dtype, flat);
      names.push_back(range.name);
    }
  };
  fill_all(table, w);
  if (layers.table != nullptr) fill_all(*layers.table, layers.s);
  refuse_others(file, names.size(), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

void fill_states(const SafetensorsFile& file, const RangeTable& table, DType dtype,
                 const std::vector<void*>& states, std::int64_t layer_state_ranks,
                 const LayerState& layers, const CarriedState& carried) {
  const std::size_t layer_ranges = layers.table == nullptr ? 0 : layers.table->ranges.size();
  if (layer_ranges > 0 && layer_state_ranks == layers.ranks)
    for (const Range& range : layers.table->ranges)
      fill(file, layer_state_name(layers.rank, range.name), range, dtype, layers.s);
  for (std::size_t k = 0; k < states.size(); ++k)
    for (const Range& range : table.ranges)
      fill(file, state_name(k, range.name), range, dtype, states[k]);
  const std::size_t of_streams = carried.table == nullptr ? 0 : carried.table->ranges.size();
  for (std::size_t i = 0; i < of_streams; ++i) {
    const Range& range = carried.table->ranges[i];
    fill(file, carried_name(range.name), range, dtype, carried.c);
  }
  const std::size_t of_ranks = static_cast<std::size_t>(layer_state_ranks) * layer_ranges;
  const std::size_t expected = states.size() * table.ranges.size() + of_ranks + of_streams;
  refuse_others(file, expected, [&](const std::string& name) {
    if (of_ranks > 0 && name.starts_with("rank.")) return true;
    if (of_streams > 0 && name.starts_with("carried.")) return true;
    for (std::size_t k = 0; k < states.size(); ++k)
      for (const Range& range : table.ranges)
        if (name == state_name(k, range.name)) return true;
    return false;
  });
}

Metadata metadata_of(const CheckpointState& state, const std::string& weights_checksum) {
  Metadata metadata = {{weights_checksum_key, weights_checksum},
                       {"step", std::to_string(state.step)},
                       {"epoch", std::to_string(state.epoch)},
                       {"position", std::to_string(state.position)},
                       {"seed", std::to_string(state.seed)}};
  if (state.layer_state_ranks > 0)
    metadata[layer_state_ranks_key] = std::to_string(state.layer_state_ranks);
  for (const auto& [key, text] : state.notes) metadata[std::string(note_prefix) + key] = text;
  return metadata;
}

template <class Integer>
void parse(const SafetensorsFile& file, const char* key, Integer& integer) {
  const auto found = file.metadata.find(key);
  const std::string text = found == file.metadata.end() ? "" : found->second;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, integer);
  if (result.ec != std::errc() || result.ptr != end)
    throw Error("{}: '{}' is \"{}\", expected an integer; it is not the state of a checkpoint",
                file.path, key, text);
}

CheckpointState state_of(const SafetensorsFile& file) {
  CheckpointState state;
  parse(file, "step", state.step);
  parse(file, "epoch", state.epoch);
  parse(file, "position", state.position);
  parse(file, "seed", state.seed);
  if (file.metadata.count(layer_state_ranks_key) > 0)
    parse(file, layer_state_ranks_key, state.layer_state_ranks);
  for (const auto& [key, text] : file.metadata)
    if (key.starts_with(note_prefix)) state.notes[key.substr(note_prefix.size())] = text;
  return state;
}

SafetensorsFile read_weights_file(const Files& files) {
  if (!fs::exists(files.weights)) throw Error("there is no checkpoint {}", files.weights);
  return read_safetensors(files.weights);
}

// The state that was written with these weights.
SafetensorsFile read_state_file(const Files& files, const std::string& weights_checksum) {
  std::optional<Error> damage;
  bool found = false;
  for (const std::string& path : {files.state, files.new_state}) {
    if (!fs::exists(path)) continue;
    found = true;
    try {
      SafetensorsFile file = read_safetensors(path);
      const auto written_with = file.metadata.find(weights_checksum_key);
      if (!file.checksum.empty() && written_with != file.metadata.end() &&
          written_with->second == weights_checksum)
        return file;
    } catch (const Error& error) {
      if (!damage) damage = error;
    }
  }
  if (damage) throw *damage;
  if (!found)
    throw Error("{} is missing beside {}; training can't go on from the weights alone", files.state,
                files.weights);
  throw Error(
      "{} was not written with {} (checksum {}): they are of different checkpoints, or one is "
      "damaged",
      files.state, files.weights, weights_checksum.empty() ? "missing" : weights_checksum);
}

void rename(const std::string& from, const std::string& to) {
  std::error_code failure;
  fs::rename(from, to, failure);
  if (failure) throw Error("can't rename {} to {}: {}", from, to, failure.message());
}

// After a crash between the renames NAME.state.new is the only state of the current weights: it
// gets its name before the next checkpoint needs that file.
void finish_interrupted(const Files& files) {
  if (!fs::exists(files.new_state) || !fs::exists(files.weights)) return;
  std::string matching;
  try {
    matching = read_state_file(files, read_safetensors(files.weights).checksum).path;
  } catch (const Error&) {
    return;  // nothing that could be read is lost by going on
  }
  if (matching != files.new_state) return;
  rename(files.new_state, files.state);
  sync_folder_of(files.state);
}

}  // namespace

void write_checkpoint(const std::string& path, const RangeTable& table, DType dtype, const void* w,
                      const std::vector<const void*>& optimizer_states,
                      const CheckpointState& state, const LayerState& layers,
                      const Metadata& metadata, const CarriedState& carried) {
  const Files files = files_of(path);
  const std::vector<NamedTensor> weights = weight_tensors(table, dtype, w, layers);
  std::vector<NamedTensor> states;
  for (std::size_t k = 0; k < optimizer_states.size(); ++k)
    add_tensors(states, table, dtype, optimizer_states[k],
                [k](const std::string& name) { return state_name(k, name); });
  CheckpointState beside = state;
  beside.layer_state_ranks = static_cast<std::int64_t>(layers.of_ranks.size());
  for (std::int64_t rank = 0; rank < beside.layer_state_ranks; ++rank)
    add_tensors(states, *layers.table, dtype, layers.of_ranks[static_cast<std::size_t>(rank)],
                [rank](const std::string& name) { return layer_state_name(rank, name); });
  if (carried.table != nullptr) add_tensors(states, *carried.table, dtype, carried.c, carried_name);

  finish_interrupted(files);
  const std::string checksum = write_safetensors(files.new_weights, weights, metadata);
  try {
    write_safetensors(files.new_state, states, metadata_of(beside, checksum));
    rename(files.new_weights, files.weights);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(files.new_weights, ignored);
    fs::remove(files.new_state, ignored);
    throw;
  }
  // The renames must reach the disk in this order: a new state is of no use without its weights.
  sync_folder_of(files.weights);
  rename(files.new_state, files.state);
  sync_folder_of(files.state);
}

void write_weights(const std::string& path, const RangeTable& table, DType dtype, const void* w,
                   const LayerState& layers, const Metadata& metadata) {
  const Files files = files_of(path);
  write_safetensors(files.new_weights, weight_tensors(table, dtype, w, layers), metadata);
  try {
    rename(files.new_weights, files.weights);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(files.new_weights, ignored);
    throw;
  }
  sync_folder_of(files.weights);
}

CheckpointState read_checkpoint(const std::string& path, const RangeTable& table, DType dtype,
                                void* w, const std::vector<void*>& optimizer_states,
                                const LayerState& layers, const CarriedState& carried) {
  const Files files = files_of(path);
  const SafetensorsFile weights = read_weights_file(files);
  const SafetensorsFile states = read_state_file(files, weights.checksum);
  fill_weights(weights, table, dtype, w, layers);
  const CheckpointState state = state_of(states);
  fill_states(states, table, dtype, optimizer_states, state.layer_state_ranks, layers, carried);
  return state;
}

CheckpointState read_checkpoint_state(const std::string& path) {
  const Files files = files_of(path);
  return state_of(read_state_file(files, read_weights_file(files).checksum));
}

void read_weights(const std::string& path, const RangeTable& table, DType dtype, void* w,
                  const LayerState& layers) {
  fill_weights(read_weights_file(files_of(path)), table, dtype, w, layers);
}

}  // namespace tutti
