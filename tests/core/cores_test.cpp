// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tutti {
namespace {

int cores_of_this_thread() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

TEST(Cores, AThreadStartedByABoundOneCanLeaveItsCore) {
  const std::size_t allowed = allowed_cores().size();
  ASSERT_GE(allowed, 1u);
  std::thread([&] {
    run_on_core(allowed_cores()[0]);
    EXPECT_EQ(cores_of_this_thread(), 1);
    std::thread([&] {
      EXPECT_EQ(cores_of_this_thread(), 1);
      run_on_any_core();
      EXPECT_EQ(cores_of_this_thread(), static_cast<int>(allowed));
    }).join();
  }).join();
  EXPECT_EQ(cores_of_this_thread(), static_cast<int>(allowed));
}

}  // namespace
}  // namespace tutti
