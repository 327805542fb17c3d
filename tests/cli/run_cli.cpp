// SPDX-License-Identifier: Apache-2.0
#include "cli/run_cli.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <pty.h>
#include <sys/prctl.h>

#include <algorithm>

namespace tutti::cli {
namespace {

void redirect(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  ::dup2(file, descriptor);
  ::close(file);
}

void deny(const Denied& denied) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const auto limit = [](auto resource, std::int64_t bytes) {
    const rlimit both{static_cast<rlim_t>(bytes), static_cast<rlim_t>(bytes)};
    if (bytes >= 0) ::setrlimit(resource, &both);
  };
  limit(RLIMIT_FSIZE, denied.file_bytes);
  limit(RLIMIT_AS, denied.address_bytes);
  if (denied.write_any_folder) ::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);  // fails for users: fine
  if (denied.environment) {
    ::clearenv();
    ::setenv("PATH", "/none", 1);
  }
}

[[noreturn]] void become_program(const std::string& folder, const Words& words) {
  std::string program = TUTTI_CLI;
  std::vector<char*> argv = {program.data()};
  Words copies = words;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::chdir(folder.c_str()) == 0) ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

const char* const small_recipe = R"([model]
name = "mlp"
hidden = [32]

[data]
name = "synthetic"
shape = [1, 6, 6]
classes = 3
count = 60
test_count = 30

[train]
steps = 20
batch = 12
seed = 3
log_every = 1

[optimizer]
rate = 0.02

[machine]
threads = 1
)";

Sandbox::Sandbox() { std::filesystem::create_directory(folder_.file("work")); }

pid_t Sandbox::start(const Words& words, const Denied& denied) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  redirect(folder_.file("out"), STDOUT_FILENO);
  redirect(folder_.file("err"), STDERR_FILENO);
  deny(denied);
  become_program(folder_.file("work"), words);
}

Result Sandbox::wait(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return {code_of(status), read_bytes(folder_.file("out")), read_bytes(folder_.file("err"))};
}

Result Sandbox::run(const Words& words, const Denied& denied) { return wait(start(words, denied)); }

Result Sandbox::run_on_terminal(const Words& words) {
  winsize size = {};
  size.ws_row = 25;
  size.ws_col = 60;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) become_program(folder_.file("work"), words);
  Result result;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
    result.out.append(buffer, static_cast<std::size_t>(got));
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  result.code = code_of(status);
  return result;
}

std::string Sandbox::write(const std::string& name, const std::string& bytes) const {
  write_bytes(file(name), bytes);
  return name;
}

bool Sandbox::has(const std::string& name) const { return std::filesystem::exists(file(name)); }

Words Sandbox::files() const {
  Words names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.file("work")))
    if (!entry.is_directory())
      names.push_back(std::filesystem::relative(entry.path(), folder_.file("work")).string());
  std::sort(names.begin(), names.end());
  return names;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_in(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    EXPECT_TRUE(contains(text, part)) << "'" << part << "' is not in: " << text;
}

void expect_failure(const Result& result, int code, std::initializer_list<const char*> parts) {
  EXPECT_EQ(result.code, code) << result.out << result.err;
  EXPECT_TRUE(result.err.starts_with("tutti: ")) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_TRUE(result.err.ends_with("\n")) << result.err;
  expect_in(result.err, parts);
}

void expect_success(const Result& result) {
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
}

}  // namespace tutti::cli
