// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/own_program.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tutti {
namespace {

TEST(OwnProgram, IsThisFile) {
  EXPECT_TRUE(own_program().ends_with("/core_test")) << own_program();
}

TEST(OwnProgram, IsTheScriptThatStartedABundle) {
  setenv("TUTTI_PROGRAM", "/somewhere/tutti", 1);
  EXPECT_EQ(own_program(), "/somewhere/tutti");
  unsetenv("TUTTI_PROGRAM");
}

}  // namespace
}  // namespace tutti
