// SPDX-License-Identifier: Apache-2.0
// Embeddings whose untouched rows are left alone: the same bits where the rule would not change
// them, lazy rules as documented, and work that does not grow with the table.
#include "tutti/exec/program.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/replica_options.h"

#include "small_job.h"

namespace tutti {
namespace {

// Six numbers between 0 and rows - 1 in each sample, drawn around a few rows.
Job rows_job(const TemporaryFolder& folder, std::int64_t rows, std::vector<std::string> changes) {
  Recipe recipe = parse_recipe(R"([data]
name = "synthetic"
shape = [6]
classes = 3
count = 60
test_count = 30
[train]
steps = 20
batch = 12
seed = 3
evaluate_every = 0
[optimizer]
rule = "sgd"
rate = 0.05
[machine]
threads = 2
[[model.layers]]
type = "relu"
[[model.layers]]
type = "embedding"
width = 5
rows = )" + std::to_string(rows) + R"(
[[model.layers]]
type = "flatten"
[[model.layers]]
type = "linear"
units = 3
)",
                               "rows.toml");
  changes.push_back("train.checkpoint=\"" + folder.file("small") + "\"");
  changes.push_back("train.record=none");
  for (const std::string& change : changes) set(recipe, change);
  return make_job(recipe, default_lists());
}

TEST(SparseRows, GiveTheBitsOfWholeTables) {
  for (const char* rule : {"optimizer.rule=sgd", "optimizer.rule=adagrad"})
    for (const char* backend : {"machine.backend=reference", "machine.backend=cpu"})
      for (const char* dtype : {"train.dtype=f32", "train.dtype=f64"}) {
        const TemporaryFolder sparse, dense;
        train(rows_job(sparse, 50, {rule, backend, dtype}), {});
        train(rows_job(dense, 50, {rule, backend, dtype, "optimizer.sparse_rows=off"}), {});
        EXPECT_EQ(weights_bytes(sparse), weights_bytes(dense)) << rule << backend << dtype;
      }
}

// The nodes of the step that update a table, and what they cost.
struct Updates {
  int of_rows = 0, whole = 0;
  double bytes = 0;
};
Updates updates_of(const Job& job) {
  const auto dataset = open_data(job, data::Split::train);
  Replica replica(replica_options(job, net_input(job, *dataset), 1, nullptr));
  Updates updates;
  for (const Node& node : replica.training_program(12, 12).graph().nodes) {
    if (node.op->name != "update" && node.op->name != "embedding_grad") continue;
    const Graph& graph = replica.training_program(12, 12).graph();
    const Cost cost =
        node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
    updates.bytes += cost.bytes_read + cost.bytes_written;
    if (node.op->name != "update") continue;
    ++(node.settings.integer("row_width") > 0 ? updates.of_rows : updates.whole);
  }
  return updates;
}

TEST(SparseRows, AreTakenWhereNothingElseNeedsTheWholeGradient) {
  const TemporaryFolder folder;
  const auto of_rows = [&](const std::vector<std::string>& changes) {
    return updates_of(rows_job(folder, 50, changes)).of_rows;
  };
  EXPECT_EQ(of_rows({}), 1);
  EXPECT_EQ(of_rows({"optimizer.rule=adagrad"}), 1);
  EXPECT_EQ(of_rows({"optimizer.rule=momentum"}), 0) << "it goes on without a gradient";
  EXPECT_EQ(of_rows({"optimizer.rule=momentum", "optimizer.sparse_rows=lazy"}), 1);
  EXPECT_EQ(of_rows({"optimizer.weight_decay=0.1"}), 0);
  EXPECT_EQ(of_rows({"optimizer.clip_norm=1"}), 0);
  EXPECT_EQ(of_rows({"train.loss_scale=8"}), 0);
  EXPECT_EQ(of_rows({"optimizer.sparse_rows=off"}), 0);
}

// Work that was counted, since times would depend on the machine.
TEST(SparseRows, CostDoesNotGrowWithTheTable) {
  const TemporaryFolder folder;
  const double small = updates_of(rows_job(folder, 100, {})).bytes;
  EXPECT_EQ(updates_of(rows_job(folder, 100000, {})).bytes, small);
  const std::vector<std::string> off = {"optimizer.sparse_rows=off"};
  EXPECT_GT(updates_of(rows_job(folder, 100000, off)).bytes, 100 * small);
}

// Lazy momentum: rows that a batch does not touch stay, with their state.
TEST(SparseRows, LazyRulesLeaveUntouchedRowsAlone) {
  const TemporaryFolder lazy, dense;
  const std::vector<std::string> momentum = {"optimizer.rule=momentum", "train.dtype=f64",
                                             "machine.backend=reference"};
  std::vector<std::string> waits = momentum;
  waits.emplace_back("optimizer.sparse_rows=lazy");
  train(rows_job(lazy, 50, waits), {});
  train(rows_job(dense, 50, momentum), {});
  EXPECT_NE(weights_bytes(lazy), weights_bytes(dense));
}

}  // namespace
}  // namespace tutti
