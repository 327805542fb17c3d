// SPDX-License-Identifier: Apache-2.0
// Choices that were measured are rank 0's, stand in the checkpoint and are made again on resume
// (L01), whatever was measured meanwhile.
#include "tutti/train/choices.h"

#include "tutti/comm/self.h"
#include "tutti/core/cores.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/replica_options.h"

#include "small_job.h"

#include <csignal>
#include <cstdlib>
#include <set>

namespace tutti {
namespace {

// A user's cache folder for the time of a test.
class UserCache {
 public:
  UserCache() { setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1); }
  UserCache(const UserCache&) = delete;
  UserCache& operator=(const UserCache&) = delete;
  ~UserCache() { unsetenv("XDG_CACHE_HOME"); }

  // From now on `variant` is the fastest wherever it can compute.
  void prefer(const std::string& variant) {
    for (const std::string& sizes : sizes_)
      append_variant_times(default_variant_cache(),
                           fmt::format("{} threads=1 cpu={}", sizes, cpu_name()),
                           {{"onednn", 2, 0}, {"direct", 2, 0}, {variant, 1, 0}});
  }
  void learn_sizes(const Job& job) {
    const auto dataset = open_data(job, data::Split::train);
    const auto alone = self_communicator();
    ReplicaOptions options = replica_options(job, net_input(job, *dataset), 1, alone.get());
    options.selection.chosen = [&](const VariantChoice& choice) { sizes_.insert(choice.sizes); };
    Replica replica(std::move(options));
    for (const std::int64_t samples : {12, 6}) replica.training_program(samples, samples);
  }

 private:
  TemporaryFolder folder_;
  std::set<std::string> sizes_;
};

Job tuned_job(const TemporaryFolder& folder, const std::string& ranks) {
  Recipe recipe = parse_recipe(small_recipe, "small.toml");
  recipe.tables["model"] = {{"name", std::string("lenet")}};
  for (const std::string& change :
       {std::string("data.shape=[1,12,12]"), std::string("train.dtype=f32"),
        std::string("machine.backend=cpu"), std::string("train.steps=20"), ranks,
        "train.checkpoint=\"" + folder.file("small") + "\"",
        "train.record=\"" + folder.file("small.jsonl") + "\""})
    set(recipe, change);
  return make_job(recipe, default_lists());
}

std::string note_of(const TemporaryFolder& folder) {
  return read_checkpoint_state(folder.file("small")).notes.at("choices");
}

TEST(ChoicesOfARun, AreMadeAgainWhateverWasMeasuredMeanwhileL01) {
  for (const std::string ranks : {"partition.data=1", "partition.data=2"}) {
    UserCache cache;
    const TemporaryFolder whole, parts, other;
    cache.learn_sizes(tuned_job(whole, "partition.data=1"));
    cache.prefer("im2col");
    train(tuned_job(whole, ranks), {});
    EXPECT_NE(note_of(whole).find("im2col convolution"), std::string::npos);
    int steps = 0;
    train(tuned_job(parts, ranks), {.stop_signal = [&] { return ++steps == 9 ? SIGTERM : 0; }});
    cache.prefer("fft");
    train(tuned_job(other, ranks), {});
    EXPECT_NE(weights_bytes(other), weights_bytes(whole)) << "the variants round alike";
    train(tuned_job(parts, ranks), {.resume = true});
    EXPECT_EQ(checkpoint_bytes(parts), checkpoint_bytes(whole)) << ranks;
  }
}

TEST(ChoicesOfARun, WhatIsNotPossibleHereIsSaidAndChosenAnew) {
  const UserCache cache;
  const TemporaryFolder folder;
  int steps = 0;
  train(tuned_job(folder, "partition.data=1"),
        {.stop_signal = [&] { return ++steps == 9 ? SIGTERM : 0; }});
  // As another machine would have written it.
  const Job job = tuned_job(folder, "partition.data=1");
  const auto dataset = open_data(job, data::Split::train);
  const auto alone = self_communicator();
  ReplicaOptions options = replica_options(job, net_input(job, *dataset), 1, alone.get());
  options.selection.choices = std::make_shared<Choices>();
  Choices& choices = *options.selection.choices;
  choices.given = choices_in(note_of(folder));
  ASSERT_FALSE(choices.given.empty());
  const std::string first = choices.given.begin()->first, usual = choices.given.begin()->second;
  choices.given.begin()->second = "systolic";
  Replica replica(std::move(options));
  replica.training_program(12, 12);
  EXPECT_EQ(choices.lacking, std::vector<std::string>{first + ": systolic"});
  EXPECT_EQ(choices.made.at(first), usual);
}

TEST(ChoicesOfARun, NotesAreReadAsTheyWereWritten) {
  const auto alone = self_communicator();
  Choices choices;
  choices.made = {{"convolution 2×3 4×5 stride=[1]", "onednn"}, {"convolution 1", "fft"}};
  EXPECT_EQ(choices_in(gather_choices(choices, *alone)), choices.made);
  EXPECT_TRUE(choices_in("").empty());
}

}  // namespace
}  // namespace tutti
