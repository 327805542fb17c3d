// SPDX-License-Identifier: Apache-2.0
// What is special about staged: a stage per tag, taken by whichever rank asks first, and a way
// without when there are no more.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/comm/window.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

TEST(Staged, EveryTagHasAStageOfItsOwnUntilThereAreNoMore) {
  const auto window = std::make_unique<Window>();
  auto* const memory = reinterpret_cast<std::byte*>(window.get());
  for (int tag = 0; tag < stages; ++tag) EXPECT_EQ(entry_of(memory, 0, 5 * tag), tag);
  EXPECT_EQ(entry_of(memory, 0, 5), 1);
  EXPECT_EQ(entry_of(memory, 0, 6), std::nullopt);
}

TEST(Staged, SumsAlsoWithoutAStage) {
  run_ranks(3, [](Communicator& communicator) {
    std::vector<std::unique_ptr<Operation>> operations;
    for (int tag = 0; tag < stages + 3; ++tag)
      operations.push_back(allreduces().find("staged").make(
          communicator, {.dtype = DType::f32, .count = 5, .tag = tag}));
    for (const auto& operation : operations) {
      std::vector<float> data(5, static_cast<float>(1 + communicator.rank()));
      operation->start(data.data());
      wait(*operation, communicator);
      EXPECT_EQ(data, std::vector<float>(5, 6));
    }
  });
}

}  // namespace
}  // namespace tutti
