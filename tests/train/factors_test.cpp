// SPDX-License-Identifier: Apache-2.0
// exchange.factors: gradients that travel as their factors train the same network.
#include "small_job.h"

namespace tutti {
namespace {

// 38 samples in batches of 16: a last batch of 6, which 4 ranks can't share equally.
std::vector<std::string> changed(std::vector<std::string> own) {
  own.insert(own.end(), {"model.hidden=[32,16]", "data.shape=[8]", "data.count=38",
                         "train.batch=16", "exchange.order=any"});
  return own;
}

TEST(Factors, G18RebuiltGradientsTrainTheSameNetwork) {
  for (const std::vector<std::string>& rule :
       {std::vector<std::string>{},
        {"optimizer.rule=adam", "optimizer.rate=0.001", "optimizer.clip_norm=0.1"},
        {"optimizer.rule=lars"}}) {
    const TemporaryFolder one;
    const auto with = [&](std::vector<std::string> changes) {
      changes.insert(changes.end(), rule.begin(), rule.end());
      changes.emplace_back("train.steps=20");
      return changed(changes);
    };
    train(small_job(one, with({})), {});
    for (const int ranks : {2, 4})
      for (const char* shard : {"none", "optimizer"})
        for (const char* transport : {"threads", "sim"}) {
          const TemporaryFolder many;
          train(small_job(many, with({fmt::format("partition.data={}", ranks),
                                      fmt::format("exchange.shard={}", shard),
                                      fmt::format("machine.transport={}", transport),
                                      "exchange.factors=always"})),
                {});
          EXPECT_LT(largest_difference(one, many), 1e-10)
              << ranks << " ranks, " << shard << ", " << transport;
        }
  }
}

// L01: state is kept in other parts than without factors; a checkpoint knows of neither.
TEST(Factors, G18L01CheckpointsTravel) {
  const TemporaryFolder one, many;
  train(small_job(one, changed({})), {});
  train(small_job(many, changed({"train.steps=20", "partition.data=4", "exchange.factors=always"})),
        {});
  train(small_job(many, changed({"train.steps=30", "partition.data=3", "exchange.factors=never"})),
        {.resume = true});
  train(small_job(many, changed({"partition.data=2", "exchange.factors=always"})),
        {.resume = true});
  EXPECT_LT(largest_difference(one, many), 1e-10);
}

}  // namespace
}  // namespace tutti
