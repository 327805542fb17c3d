// SPDX-License-Identifier: Apache-2.0
// Checkpoints (L01): NAME.safetensors holds the weights, NAME.state everything else that training
// needs to go on bit for bit. Nothing in these files depends on time, host or transport. Writing
// replaces the pair atomically: a crash at any point, or a full disk, leaves the old or the new
// checkpoint whole.
#pragma once

#include "tutti/checkpoint/safetensors.h"
#include "tutti/core/dtype.h"
#include "tutti/core/flat.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti {

struct CheckpointState {
  std::int64_t step = 0;      // updates done
  std::int64_t epoch = 0;     // epochs done
  std::int64_t position = 0;  // samples of this epoch already used
  std::uint64_t seed = 0;
  std::map<std::string, std::string> notes = {};  // the recipe, choices that were measured …
  // Ranks whose own layer state is held beside their mean; 0: all ranks have the same.
  std::int64_t layer_state_ranks = 0;

  bool operator==(const CheckpointState&) const = default;
};

// The layer state s. It stands among the weights, as other tools expect. Where each rank has its
// own layer state, the mean over ranks stands there, and the state of each rank stands in
// NAME.state.
struct LayerState {
  const RangeTable* table = nullptr;  // none: the network has no layer state
  void* s = nullptr;
  std::vector<void*> of_ranks = {};  // for writing: that of each rank; empty: all have the same
  // For reading: this rank of how many. It gets its own state if as many ranks wrote, else the
  // mean.
  int rank = 0, ranks = 1;
};

// What all streams of samples carry from step to step. It stands in NAME.state.
struct CarriedState {
  const RangeTable* table = nullptr;  // none: nothing is carried
  void* c = nullptr;
};

// In all of these `path` is NAME or NAME.safetensors, and flat vectors are laid out by the table.

// Writes both files. `metadata` goes into NAME.safetensors (train/trained_network.h).
void write_checkpoint(const std::string& path, const RangeTable& table, DType dtype, const void* w,
                      const std::vector<const void*>& optimizer_states,
                      const CheckpointState& state, const LayerState& layers = {},
                      const Metadata& metadata = {}, const CarriedState& carried = {});

// Writes only NAME.safetensors, replaced atomically.
void write_weights(const std::string& path, const RangeTable& table, DType dtype, const void* w,
                   const LayerState& layers = {}, const Metadata& metadata = {});

// Fills the flat vectors. An Error says which file is damaged, or which tensor does not fit.
CheckpointState read_checkpoint(const std::string& path, const RangeTable& table, DType dtype,
                                void* w, const std::vector<void*>& optimizer_states,
                                const LayerState& layers = {}, const CarriedState& carried = {});

// Reads only what stands beside the tensors, for callers that don't know the model yet.
CheckpointState read_checkpoint_state(const std::string& path);

// Reads only NAME.safetensors, which another tool may have written; NAME.state need not exist.
void read_weights(const std::string& path, const RangeTable& table, DType dtype, void* w,
                  const LayerState& layers = {});

}  // namespace tutti
