// SPDX-License-Identifier: Apache-2.0
// A job that trains a small network in milliseconds, with its files in a folder of the test.
#pragma once

#include "tutti/checkpoint/checkpoint.h"
#include "tutti/checkpoint/safetensors.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <initializer_list>
#include <string>
#include <vector>

namespace tutti {

// 60 samples in batches of 12: 5 steps per epoch.
inline constexpr const char* small_recipe = R"([model]
name = "mlp"
hidden = [8]
[data]
name = "synthetic"
shape = [6]
classes = 3
count = 60
test_count = 30
[train]
steps = 50
batch = 12
seed = 3
dtype = "f64"
[optimizer]
rule = "momentum"
rate = 0.05
[exchange]
order = "fixed"
[machine]
backend = "reference"
threads = 1
)";

// The small recipe with its files in `folder` and some settings changed, each "table.key=value".
inline Job small_job(const TemporaryFolder& folder, const std::vector<std::string>& changes = {}) {
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  set(recipe, "train.checkpoint=\"" + folder.file("small") + "\"");
  set(recipe, "train.record=\"" + folder.file("small.jsonl") + "\"");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

// A clock of one second per step: stop_signal is asked once after every step.
struct Script {
  int steps = 0;
  int signal_after = -1, signal = SIGTERM;

  TrainOptions options() {
    return {.stop_signal = [this] { return ++steps == signal_after ? signal : 0; },
            .clock = [this] { return static_cast<double>(steps + 1); }};
  }
};

// Both files of the checkpoint, byte by byte.
inline std::string checkpoint_bytes(const TemporaryFolder& folder) {
  return read_bytes(folder.file("small.safetensors")) + read_bytes(folder.file("small.state"));
}

inline std::string weights_bytes(const TemporaryFolder& folder) {
  return read_bytes(folder.file("small.safetensors"));
}

// Between the weights of two checkpoints in double.
inline double largest_difference(const TemporaryFolder& a, const TemporaryFolder& b) {
  const SafetensorsFile left = read_safetensors(a.file("small.safetensors"));
  const SafetensorsFile right = read_safetensors(b.file("small.safetensors"));
  EXPECT_FALSE(left.tensors.empty());
  double largest = 0;
  for (const NamedTensor& entry : left.tensors)
    for (std::int64_t i = 0; i < entry.tensor.count(); ++i)
      largest = std::max(largest, std::abs(entry.tensor.as<double>()[i] -
                                           right.find(entry.name)->as<double>()[i]));
  return largest;
}

}  // namespace tutti
