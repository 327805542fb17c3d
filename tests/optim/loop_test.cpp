// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/loop.h"

#include "tutti/optim/functors.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

TEST(UpdateLoop, TouchesItsPartOnly) {
  std::vector<float> w(10, 1), g(10, 1), v(10, 0);
  void* states[] = {v.data()};
  const double numbers[] = {0.5};
  update_loop<Momentum, float>(w.data(), g.data(), states, 3, 7, {.rate = 0.25, .rule = numbers});
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(w[i], i >= 3 && i < 7 ? 0.75f : 1.f) << i;
    EXPECT_EQ(v[i], i >= 3 && i < 7 ? -0.25f : 0.f) << i;
  }
}

TEST(UpdateLoop, PartsMakeTheWhole) {
  const double numbers[] = {0.9, 0.999, 1e-8};
  const auto run = [&](std::vector<std::int64_t> cuts) {
    std::vector<float> w(101, 1), g(101), m(101), v(101);
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i) - 50;
    void* states[] = {m.data(), v.data()};
    for (std::size_t p = 0; p + 1 < cuts.size(); ++p)
      update_loop<Adam, float>(w.data(), g.data(), states, cuts[p], cuts[p + 1],
                               {.rate = 0.1, .rule = numbers});
    return w;
  };
  EXPECT_EQ(run({0, 101}), run({0, 17, 17, 64, 101}));
}

}  // namespace
}  // namespace tutti
