// SPDX-License-Identifier: Apache-2.0
// mpirun tutti train: the same bits as with threads, one voice, and failures that end all ranks.
#include "mpi/mpirun.h"
#include "train/small_job.h"

#include <signal.h>

namespace tutti {
namespace {

class MpiTrain : public testing::Test {
 protected:
  void SetUp() override { write_bytes(folder.file("small.toml"), small_recipe); }

  // The files of a checkpoint.
  std::string bits(const std::string& name) const {
    return read_bytes(folder.file(name + ".safetensors")) +
           read_bytes(folder.file(name + ".state"));
  }

  TemporaryFolder folder;
};

TEST_F(MpiTrain, GivesTheBitsOfThreadsC01A12) {
  for (const int ranks : {2, 3, 4})
    for (const char* shard :
         {"exchange.store=all", "exchange.store=sharded", "exchange.store=sharded_weights"}) {
      ASSERT_EQ(launch(folder, train_command({fmt::format("partition.data={}", ranks), shard,
                                              "train.checkpoint=threads", "train.record=none"}))
                    .code,
                0);
      const Launched run = on_ranks(
          folder, ranks, train_command({shard, "train.checkpoint=processes", "train.record=none"}));
      ASSERT_EQ(run.code, 0) << run.err;
      EXPECT_EQ(run.err, "");
      EXPECT_TRUE(bits("threads") == bits("processes")) << ranks << " ranks, " << shard;
    }
}

TEST_F(MpiTrain, ChecksItsMessages) {
  for (const char* shard : {"exchange.store=all", "exchange.store=sharded_weights"}) {
    ASSERT_EQ(launch(folder, train_command({"partition.data=3", shard, "train.checkpoint=threads",
                                            "train.record=none"}))
                  .code,
              0);
    const Launched run =
        on_ranks(folder, 3,
                 train_command({shard, "exchange.verify=1", "exchange.allreduce=ring",
                                "train.checkpoint=processes", "train.record=none"}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(bits("threads") == bits("processes")) << shard;
  }
  expect_one_message(on_ranks(folder, 2,
                              train_command({"exchange.verify=1", "exchange.allreduce=mpi",
                                             "exchange.order=any", "exchange.store=all"})),
                     1, {"allreduce 'mpi'", "exchange.verify can't see it"});
}

TEST_F(MpiTrain, AccumulatesAsThreadsDoA09) {
  ASSERT_EQ(launch(folder, train_command({"partition.data=4", "train.accumulate=2",
                                          "train.checkpoint=threads"}))
                .code,
            0);
  const Launched run =
      on_ranks(folder, 4,
               train_command({"train.accumulate=2", "exchange.store=sharded_weights",
                              "train.checkpoint=processes"}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_TRUE(bits("threads") == bits("processes"));
}

TEST_F(MpiTrain, BeginsFromWeightsAndFreezesAsThreadsDoA05) {
  ASSERT_EQ(launch(folder, train_command({"train.checkpoint=first", "train.steps=5"})).code, 0);
  const auto run = [&](const char* shard, const char* name) {
    return train_command({"train.from=first", "model.freeze=fc1.*", "train.steps=5", shard,
                          fmt::format("train.checkpoint={}", name)});
  };
  for (const char* shard : {"exchange.store=sharded", "exchange.store=sharded_weights"}) {
    const std::string threads = run(shard, "threads") + " --set partition.data=2";
    ASSERT_EQ(launch(folder, threads).code, 0);
    const Launched processes = on_ranks(folder, 2, run(shard, "processes"));
    ASSERT_EQ(processes.code, 0) << processes.err;
    EXPECT_NE(processes.out.find("4 of 4 tensors loaded"), std::string::npos) << processes.out;
    EXPECT_TRUE(bits("threads") == bits("processes")) << shard;
  }
}

TEST_F(MpiTrain, OnlyRankZeroSpeaksAndWrites) {
  const Launched run = on_ranks(folder, 3, train_command({}));
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("3 ranks × 1 thread"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("3 ranks"), run.out.rfind("3 ranks")) << run.out;
  const std::string record = read_bytes(folder.file("runs/small/record.jsonl"));
  EXPECT_EQ(record.find("\"begin\""), record.rfind("\"begin\""));
}

TEST_F(MpiTrain, ResumesWhatThreadsHaveBegun) {
  const auto train = [&](const std::string& command) {
    const Launched run = launch(folder, command);
    EXPECT_EQ(run.code, 0) << run.err;
  };
  train(train_command({"partition.data=2", "train.checkpoint=whole"}));
  train(train_command({"partition.data=2", "train.checkpoint=half", "train.steps=20"}));
  train(fmt::format("{} -n 2 {}", mpirun, train_command({"train.checkpoint=half"}, true)));
  EXPECT_TRUE(bits("whole") == bits("half"));
}

TEST_F(MpiTrain, AWrongRecipeIsToldOnce) {
  expect_one_message(on_ranks(folder, 3, train_command({"train.stepz=3"})), 2,
                     {"tutti: ", "unknown key 'stepz'"});
  expect_one_message(on_ranks(folder, 3, train_command({"partition.data=2"})), 2,
                     {"partition.data is 2, but 3 processes", "partition.data=3"});
}

TEST_F(MpiTrain, RecipesThatDifferAreFoundAtTheStart) {
  const Launched run = launch(folder, fmt::format("{} -n 2 {} : -n 1 {}", mpirun, train_command({}),
                                                  train_command({"optimizer.rate=0.5"})));
  expect_one_message(run, 1, {"rank 2", "[optimizer] rate = 0.5", "rate = 0.05"});
  EXPECT_EQ(run.out, "");
}

TEST_F(MpiTrain, ARankThatFailsIsNamedAndEndsTheOthers) {
  expect_one_message(launch(folder, fmt::format("{} -n 2 {} : -n 1 '{}' train none.toml", mpirun,
                                                train_command({}), TUTTI_CLI)),
                     1, {"rank 2 failed", "none.toml"});
  expect_one_message(on_ranks(folder, 2, train_command({"optimizer.rate=1e200"})), 1,
                     {"rank ", "failed", "not finite"});
  expect_one_message(on_ranks(folder, 2, train_command({"train.checkpoint=none/here"})), 1,
                     {"none/here.safetensors"});
}

// Fused, with layouts, in single precision.
TEST_F(MpiTrain, GivesTheBitsOfThreadsForNetworksThatConvolveC01B19) {
  for (const char* model : {"lenet", "resnet20"}) {
    write_bytes(folder.file("small.toml"), fmt::format(R"([model]
name = "{}"
[data]
name = "synthetic"
shape = [1, 12, 12]
classes = 3
count = 20
[train]
steps = 3
batch = 7
evaluate_every = 0
record = "none"
[exchange]
order = "fixed"
[machine]
threads = 1
)",
                                                       model));
    ASSERT_EQ(launch(folder, train_command({"partition.data=3", "train.checkpoint=threads"})).code,
              0);
    const Launched run = on_ranks(folder, 3, train_command({"train.checkpoint=processes"}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(bits("threads") == bits("processes")) << model;
    const Launched sharded =
        on_ranks(folder, 3,
                 train_command({"train.checkpoint=processes", "exchange.store=sharded_weights",
                                "exchange.overlap=false", "exchange.block_bytes=65536"}));
    ASSERT_EQ(sharded.code, 0) << sharded.err;
    EXPECT_TRUE(bits("threads") == bits("processes")) << model << " with sharded parameters";
  }
}

// Supervised: one message, whatever happens to a rank, and on from the last checkpoint.
class MpiLaunch : public MpiTrain {
 protected:
  Launched launched(const std::string& options, const std::string& fault) {
    return launch(
        folder,
        fmt::format("'{}' launch -n 3 --transport mpi {} -- train small.toml --overwrite --set "
                    "'machine.fault={}' --set train.checkpoint_every=4 --set "
                    "train.checkpoint=mine",
                    TUTTI_CLI, options, fault));
  }
};

TEST_F(MpiLaunch, NamesTheRankThatFailsL12) {
  expect_one_message(launched("", "throw 1 9"), 1, {"rank 1 failed", "step 9"});
  expect_one_message(launched("", "exit 1 9"), 9, {"rank 1 has ended"});
  expect_one_message(launched("", "kill 1 9"), 128 + SIGKILL, {"rank 1", "signal 9 (Killed)"});
  expect_one_message(launched("--timeout 0.5", "hang 1 9"), 1,
                     {"it has waited 0.5 s for", "waits for", "rank 1 is in"});
}

TEST_F(MpiLaunch, GoesOnFromTheLastCheckpointL01) {
  ASSERT_EQ(on_ranks(folder, 3, train_command({"train.checkpoint=whole"})).code, 0);
  const Launched run = launched("--retries 2", "kill 2 9");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("attempt 2 of 3, from the last checkpoint"), std::string::npos) << run.err;
  EXPECT_TRUE(bits("whole") == bits("mine"));
}

// The launcher notices, and says so.
TEST_F(MpiTrain, AKilledRankEndsTheOthers) {
  const std::string command = fmt::format(
      "{} --allow-run-as-root --oversubscribe --bind-to none -n 3 sh -c 'if [ "
      "$OMPI_COMM_WORLD_RANK = 1 ]; then (sleep 1; kill -9 $$) & fi; exec \"$@\"' sh {}",
      TUTTI_MPIRUN, train_command({"train.steps=100000000"}));
  const Launched run = launch(folder, command);
  EXPECT_EQ(run.code, 128 + SIGKILL) << run.err;
  EXPECT_NE(run.err.find("rank 1"), std::string::npos) << run.err;
  EXPECT_LT(run.seconds, 30);
}

}  // namespace
}  // namespace tutti
