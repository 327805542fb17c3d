// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/command.h"

#include "tutti/core/error.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tutti::data {
namespace {

// The child starts in `folder`, reads nothing, and writes to `output`.
struct FileActions {
  posix_spawn_file_actions_t actions;

  FileActions(const std::filesystem::path& folder, int output) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
};

// Everything readable from `pipe` until its writers are gone; only the end is kept.
std::string drain(int pipe) {
  constexpr std::size_t kept_bytes = 2000;
  std::string text;
  char part[4096];
  while (true) {
    const ssize_t got = ::read(pipe, part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > kept_bytes) text.erase(0, text.size() - kept_bytes);
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& words,
                          const std::filesystem::path& folder) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw Error("cannot start {}: {}", words[0], std::generic_category().message(errno));
  const FileActions start(folder, ends[1]);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, words[0].c_str(), &start.actions, nullptr, arguments.data(), environ);
  ::close(ends[1]);
  CommandResult result;
  if (failed == 0) {
    result.output = drain(ends[0]);
    result.code = wait_for(child);
  }
  ::close(ends[0]);
  if (failed == ENOENT) return {.found = false, .code = 127, .output = ""};
  if (failed != 0)
    throw Error("cannot start {}: {}", words[0], std::generic_category().message(failed));
  return result;
}

}  // namespace tutti::data
