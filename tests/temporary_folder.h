// SPDX-License-Identifier: Apache-2.0
// A folder that lives as long as the object (in memory where the machine has that: tests write
// thousands of small files), and a child process with a full disk.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tutti {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = ::access(memory.c_str(), W_OK) == 0;
    const auto parent = usable ? memory : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "tutti_test_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// What happens at the byte that is one too many.
enum class AtLimit { full_disk, killed };

// Runs the function in a child process in which no file may grow beyond `bytes`: there writing
// fails as on a full disk, or the child is killed. True when the function returned true.
template <class Function>
bool with_file_limit(rlim_t bytes, Function&& function, AtLimit at_limit = AtLimit::full_disk) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0}, limit{bytes, bytes};
    ::setrlimit(RLIMIT_CORE, &no_core);
    std::signal(SIGXFSZ, at_limit == AtLimit::killed ? SIG_DFL : SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    bool good = false;
    try {
      good = function();
    } catch (...) {
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tutti
