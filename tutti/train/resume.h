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

// What makes the bits of a run: model, data, optimizer, seed, batch, type and order. All but the
// rate must be the same to go on.
// The note "recipe" of a checkpoint is its TOML, enough to build the network again.
Recipe identity(const Job& job);

// Every rank calls this; rank 0, which has what the others hold, `writes`, with `notes` among those
// of the checkpoint.
void save(const Job& job, const Replica& replica, const data::Dataset& dataset,
          const data::Sampler& sampler, std::int64_t step, bool writes,
          const std::map<std::string, std::string>& notes = {});

// The weights alone, as NAME.safetensors. Every rank calls this; rank 0 `writes`.
void save_weights(const Job& job, const Replica& replica, const data::Dataset& dataset,
                  const std::string& path, bool writes);

// Fills the replica and returns what is beside the tensors. An Error names the key in which the
// checkpoint's recipe differs.
CheckpointState restore(const Job& job, Replica& replica, const data::Dataset& dataset);

// A line on a rate that is no longer the checkpoint's; empty: it is.
std::string change_of_rate(const Job& job, const CheckpointState& state);

// Only the weights.
void load_weights(const std::string& path, Replica& replica);

}  // namespace tutti
