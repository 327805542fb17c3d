// SPDX-License-Identifier: Apache-2.0
// Two kinds of failure. Error: something a user, a file or a machine did; its text says what is
// wrong, what was expected and what to do. check: a bug of ours; it names the place.
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace tutti {

class Error : public std::runtime_error {
 public:
  template <class... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

// Throws std::logic_error when an invariant of the program does not hold; never for user input.
inline void check(bool condition, const char* why_it_must_hold,
                  std::source_location at = std::source_location::current()) {
  if (!condition)
    throw std::logic_error(
        fmt::format("internal error: {} ({}:{})", why_it_must_hold, at.file_name(), at.line()));
}

}  // namespace tutti
