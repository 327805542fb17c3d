// SPDX-License-Identifier: Apache-2.0
// Between a replica and its checkpoint (L01): what is written beside the tensors, and whether a job
// may go on from it.
#pragma once

#include "tutti/checkpoint/checkpoint.h"
#include "tutti/data/sampler.h"
#include "tutti/recipe/job.h"
#include "tutti/train/replica.h"

#include <cstdint>
#include <map>
#include <string>

namespace tutti {

// The settings that decide the bits of a training run: model, data, optimizer, seed, batch, type
// and order. All but the rate must be the same to go on. The note "recipe" of a checkpoint is this
// recipe as TOML, enough to build the network again.
Recipe identity(const Job& job);

// Writes a checkpoint, with `notes` among its notes. Every rank calls this: the vectors are put
// together on rank 0, which `writes`.
void save(const Job& job, const Replica& replica, const data::Dataset& dataset,
          const data::Sampler& sampler, std::int64_t step, bool writes,
          const std::map<std::string, std::string>& notes = {});

// Writes only the weights, as NAME.safetensors. Every rank calls this; rank 0 `writes`.
void save_weights(const Job& job, const Replica& replica, const data::Dataset& dataset,
                  const std::string& path, bool writes);

// Fills the replica from the job's checkpoint and returns what stands beside the tensors. An Error
// names the key in which the checkpoint's recipe differs.
CheckpointState restore(const Job& job, Replica& replica, const data::Dataset& dataset);

// A line that tells of a rate that is not the checkpoint's; empty: the rate is the same.
std::string change_of_rate(const Job& job, const CheckpointState& state);

// Fills only weights and layer state of the replica, from a weights file.
void load_weights(const std::string& path, Replica& replica);

}  // namespace tutti
