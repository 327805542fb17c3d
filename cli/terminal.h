// SPDX-License-Identifier: Apache-2.0
// Standard output as people and scripts see it: lines that stay and, on a terminal, one line that
// is rewritten.
#pragma once

#include <string>

namespace tutti::cli {

class Terminal {
 public:
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool interactive() const { return interactive_; }
  // Prints a line that stays, and flushes it.
  void print(const std::string& line);
  // Rewrites the last line; for interactive terminals.
  void progress(const std::string& line);

 private:
  void clear();

  bool interactive_ = false;
  bool rewriting_ = false;
};

// `word` quoted so that a shell reads it as one word.
std::string shell_quoted(const std::string& word);

}  // namespace tutti::cli
