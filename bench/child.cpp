// SPDX-License-Identifier: Apache-2.0
#include "bench/child.h"

#include "tutti/core/cores.h"
#include "tutti/core/error.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tutti::bench {
namespace {

void open_pipe(int (&ends)[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error("pipe: {}", std::strerror(errno));
}

}  // namespace

Child::Child(std::string name, const std::vector<std::string>& command,
             const std::map<std::string, std::string>& environment)
    : name_(std::move(name)) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int down[2], up[2];
  open_pipe(down);
  open_pipe(up);
  process_ = fork();
  if (process_ < 0) throw Error("fork: {}", std::strerror(errno));
  if (process_ == 0) {
    run_on_any_core();
    for (const auto& [key, value] : environment)
      value.empty() ? unsetenv(key.c_str()) : setenv(key.c_str(), value.c_str(), 1);
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = fdopen(down[1], "w");
  from_ = fdopen(up[0], "r");
}

Child::Child(Child&& other) noexcept
    : name_(std::move(other.name_)),
      process_(std::exchange(other.process_, -1)),
      to_(std::exchange(other.to_, nullptr)),
      from_(std::exchange(other.from_, nullptr)) {}

Child::~Child() {
  if (to_ != nullptr) std::fclose(to_);
  if (from_ != nullptr) std::fclose(from_);
  if (process_ <= 0) return;
  kill(process_, SIGCONT);
  waitpid(process_, nullptr, 0);
}

std::string Child::ask(const std::string& line) {
  kill(process_, SIGCONT);
  if (!line.empty()) {
    std::fprintf(to_, "%s\n", line.c_str());
    std::fflush(to_);
  }
  char* answer = nullptr;
  std::size_t capacity = 0;
  const ssize_t length = getline(&answer, &capacity, from_);
  const std::string text =
      length > 0 ? std::string(answer, static_cast<std::size_t>(length - 1)) : "";
  std::free(answer);
  kill(process_, SIGSTOP);
  if (length <= 0) throw Error("{} ended instead of answering; see its message above", name_);
  return text;
}

}  // namespace tutti::bench
