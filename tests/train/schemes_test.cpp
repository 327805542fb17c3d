// SPDX-License-Identifier: Apache-2.0
// The contract of the lists of exchange/: where ranks meet in every step, every combination of
// their entries trains what one rank trains, or is refused with a reason.
#include "small_job.h"

namespace tutti {
namespace {

struct Choice {
  std::string store, payload, codec, merge, local_rule;
};

std::vector<Choice> choices() {
  const Lists lists = default_lists();
  std::vector<Choice> all;
  for (const Store& store : lists.stores)
    for (const Payload& payload : lists.payloads)
      for (const Codec& codec : lists.codecs)
        for (const Merge& merge : lists.merges)
          for (const LocalRule& local : lists.local_rules)
            all.push_back({store.name, payload.name, codec.name, merge.name, local.name});
  return all;
}

std::vector<std::string> changes_of(const Choice& choice, int ranks) {
  return {"exchange.store=" + choice.store,
          "exchange.payload=" + choice.payload,
          "codec.name=" + choice.codec,
          "exchange.merge=" + choice.merge,
          "optimizer.variance_reduction=" + choice.local_rule,
          fmt::format("partition.data={}", ranks),
          "exchange.order=any",
          "model.hidden=[32,16]",
          "data.shape=[8]",
          "train.steps=6",
          "train.batch=14"};
}

class Schemes : public testing::TestWithParam<Choice> {};

// 14 samples on 3 ranks: shares differ, as they do in the last batch of an epoch.
TEST_P(Schemes, TrainWhatOneRankTrains) {
  const Choice& choice = GetParam();
  const bool rounds = choice.codec != "none";
  const auto job_of = [&](const TemporaryFolder& folder, int ranks) {
    std::vector<std::string> changes = changes_of(choice, ranks);
    if (rounds) changes.emplace_back("train.dtype=f32");
    return small_job(folder, changes);
  };
  for (const int ranks : {2, 3}) {
    const TemporaryFolder one, many;
    std::optional<Job> job;
    try {
      job.emplace(job_of(many, ranks));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("\", but "), std::string::npos) << error.what();
      return;
    }
    const TrainSummary summary = train(*job, {});
    const TrainSummary alone = train(job_of(one, 1), {});
    EXPECT_NEAR(summary.loss, alone.loss, (rounds ? 1e-2 : 1e-10) * alone.loss);
    if (!rounds) {
      EXPECT_LT(largest_difference(one, many), 1e-10);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Schemes, testing::ValuesIn(choices()), [](const auto& tested) {
  const Choice& choice = tested.param;
  return choice.store + "_" + choice.payload + "_" + choice.codec + "_" + choice.merge + "_" +
         choice.local_rule;
});

}  // namespace
}  // namespace tutti
