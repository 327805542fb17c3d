// SPDX-License-Identifier: Apache-2.0
// A job: a recipe of which every table has been validated and every choice looked up. Nothing is
// opened or built yet (make_job.h makes one).
#pragma once

#include "tutti/core/mesh.h"
#include "tutti/kernels/selection.h"
#include "tutti/optim/loss_scale.h"
#include "tutti/recipe/lists.h"
#include "tutti/recipe/recipe.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Job {
  std::string name;  // of the recipe's file, without folder and ending
  Recipe recipe;     // resolved: every table is there, with defaults filled in
  Lists lists;
  // The entries that the recipe names.
  Model model;
  Loss loss;
  data::DatasetEntry dataset;
  Rule rule;
  Schedule schedule;
  LocalRule local_rule;
  Scheme scheme;
  std::set<std::string> without_passes = {};  // by name; set it before the job is used
  // The folder of files that the recipe does not name; training chooses it when it begins
  // (train/run_folder.h).
  std::string folder = "runs/" + name;
  std::vector<std::string> remarks = {};  // on what was made of the recipe, for people

  // A resolved table: table("train").integer("batch").
  const Settings& table(std::string_view table_name) const;
  // How the ranks of the job are laid out ([partition]).
  Mesh mesh() const;
  int ranks() const { return mesh().ranks(); }
  DType dtype() const;
  // Where the run's files go; an empty path: not written.
  std::string checkpoint_path() const;  // NAME of NAME.safetensors and NAME.state
  std::string record_path() const;
};

// The job as TOML, defaults filled in.
std::string resolved_recipe(const Job& job);

// Opens the training or the test data. An Error begins with the place of [data] in the recipe.
std::unique_ptr<data::Dataset> open_data(const Job& job, data::Split split);

// What the network of the job is built for: the fields, classes and scale of a data set.
NetInput net_input(const Job& job, const data::Dataset& dataset);
// Builds the network of the job; parameters that model.freeze names are not trained.
Net build_net(const Job& job, const NetInput& input);

// How variants of operators are chosen, for ranks of `threads` threads.
Selection selection_of(const Job& job, int threads);

// What train.loss_scale means for the job's precision.
LossScale loss_scale_of(const Job& job);
// Bytes that memory.limit allows a rank; 0: any.
std::int64_t memory_limit(const Job& job);

// Whether the job's ranks run on a virtual clock ([simulation]).
bool on_virtual_clock(const Job& job);

// Threads of each of `ranks` ranks: machine.threads, or else an equal part of this machine's cores.
int threads_per_rank(const Job& job, int ranks);

}  // namespace tutti
