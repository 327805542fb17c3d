// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <string_view>

namespace tutti::cli {
namespace {

constexpr const char* to_start_and_erase = "\r\033[K";

// The columns of the terminal; a longer line could not be rewritten.
std::size_t columns() {
  winsize size = {};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

// Flushes standard output. When its reader has closed it, as `head` does, work goes on and the rest
// of the output is discarded.
void flush() {
  if (std::fflush(stdout) != 0 && errno == EPIPE &&
      std::freopen("/dev/null", "w", stdout) == nullptr)
    std::clearerr(stdout);
}

}  // namespace

Terminal::Terminal() : interactive_(::isatty(STDOUT_FILENO) == 1) {}
Terminal::~Terminal() { clear(); }

void Terminal::clear() {
  if (!rewriting_) return;
  std::fputs(to_start_and_erase, stdout);
  rewriting_ = false;
}

void Terminal::print(const std::string& line) {
  clear();
  std::puts(line.c_str());
  flush();
}

void Terminal::progress(const std::string& line) {
  clear();
  std::fputs(line.substr(0, columns() - 1).c_str(), stdout);
  flush();
  rewriting_ = true;
}

std::string shell_quoted(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
  };
  std::string quoted;
  bool needed = word.empty();
  for (const char c : word) {
    needed = needed || !plain(static_cast<unsigned char>(c));
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return needed ? fmt::format("'{}'", quoted) : word;
}

}  // namespace tutti::cli
