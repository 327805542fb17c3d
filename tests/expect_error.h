// SPDX-License-Identifier: Apache-2.0
// Expects an Error whose text holds all of the given parts.
#pragma once

#include "tutti/core/error.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace tutti {

template <class Function>
void expect_error(Function&& function, std::initializer_list<const char*> parts) {
  try {
    function();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << "one line is expected: " << text;
    for (const char* part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
    return;
  }
  ADD_FAILURE() << "no Error was thrown";
}

}  // namespace tutti
