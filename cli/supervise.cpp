// SPDX-License-Identifier: Apache-2.0
#include "cli/supervise.h"

#include "tutti/core/error.h"
#include "tutti/train/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <thread>

namespace tutti::cli {
namespace {

using Clock = std::chrono::steady_clock;

// A file that the child touches at its steps; its time of change is that of the last step.
class Heartbeat {
 public:
  Heartbeat() {
    std::string name = (std::filesystem::temp_directory_path() / "tutti.XXXXXX").string();
    const int file = ::mkstemp(name.data());
    if (file < 0) throw Error("can't make a file in {}: {}", name, std::strerror(errno));
    ::close(file);
    path_ = name;
    ::setenv(heartbeat_variable, path_.c_str(), 1);
  }
  ~Heartbeat() { ::unlink(path_.c_str()); }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Seconds since a call of this function last found the file touched.
  double silence() {
    struct stat now = {};
    if (::stat(path_.c_str(), &now) == 0 &&
        (now.st_mtim.tv_sec != last_.tv_sec || now.st_mtim.tv_nsec != last_.tv_nsec)) {
      last_ = now.st_mtim;
      changed_ = Clock::now();
    }
    return std::chrono::duration<double>(Clock::now() - changed_).count();
  }

 private:
  std::string path_;
  timespec last_ = {};
  Clock::time_point changed_ = Clock::now();
};

// Prints the error lines of the child. What mpirun prints around a failure is left out; which rank
// has ended and how is kept for killed().
class ErrorLines {
 public:
  void take(const char* bytes, std::size_t count) {
    text_.append(bytes, count);
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
      line(text_.substr(0, end));
      text_.erase(0, end + 1);
    }
  }
  // Prints a last line that has no line break.
  void finish() {
    if (!text_.empty()) line(text_);
    text_.clear();
  }
  bool spoke() const { return spoke_; }
  const std::string& killed() const { return killed_; }

 private:
  void line(const std::string& line) {
    static const std::regex signalled(
        R"(process rank (\d+) with PID \d+ on node (\S+) exited on signal (.*)\.)");
    static const std::regex left(R"(Process name: \[\[\d+,\d+\],(\d+)\])");
    static const std::regex of_runtime(R"(^\[[^\]]+:\d+\].*)");
    if (line.starts_with("-----------------------------------")) {
      inside_ = !inside_;
    } else if (std::smatch found; inside_) {
      if (std::regex_search(line, found, signalled))
        killed_ = fmt::format("rank {} on {} was ended by signal {}", found[1].str(),
                              found[2].str(), found[3].str());
      else if (std::regex_search(line, found, left))
        killed_ =
            fmt::format("rank {} has ended before the others, without a word", found[1].str());
    } else if (!line.empty() && !std::regex_match(line, of_runtime)) {
      spoke_ = spoke_ || line.starts_with("tutti: ");
      fmt::print(stderr, "{}\n", line);
    }
  }

  std::string text_, killed_;
  bool inside_ = false, spoke_ = false;
};

pid_t start(const std::vector<std::string>& command, int error_pipe) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the child ends when this program ends
  ::signal(SIGPIPE, SIG_DFL);          // exec would hand an ignored signal on to the child
  ::dup2(error_pipe, STDERR_FILENO);
  ::close(error_pipe);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  fmt::print(stderr, "tutti: can't start {}: {}\n", command[0], std::strerror(errno));
  std::fflush(stderr);
  ::_exit(127);
}

void end(pid_t child) {
  ::kill(-child, SIGTERM);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ::kill(-child, SIGKILL);
}

}  // namespace

Ending supervise(const std::vector<std::string>& command, double timeout) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw Error("can't make a pipe: {}", std::strerror(errno));
  const StopSignals signals;
  Heartbeat heartbeat;
  const pid_t child = start(command, pipe[1]);
  if (child < 0) throw Error("can't start {}: {}", command[0], std::strerror(errno));
  ::close(pipe[1]);
  ErrorLines lines;
  int status = 0, passed_on = 0;
  bool hung = false, open = true, running = true;
  while (running || open) {
    pollfd wanted{pipe[0], POLLIN, 0};
    if (open && ::poll(&wanted, 1, 100) > 0) {
      char bytes[4096];
      const ssize_t got = ::read(pipe[0], bytes, sizeof bytes);
      if (got > 0) lines.take(bytes, static_cast<std::size_t>(got));
      open = got > 0;
    }
    if (running && ::waitpid(child, &status, WNOHANG) == child) running = false;
    // The child's own children may keep the pipe open.
    if (!running && wanted.revents == 0) open = false;
    if (const int signal = signals.received(); signal != passed_on)
      ::kill(child, passed_on = signal);
    // Eight seconds more, since ranks that wait for a rank that hangs can print a better message
    // first.
    if (running && !hung && timeout > 0 && heartbeat.silence() > timeout + 8) {
      hung = true;
      end(child);
    }
  }
  ::close(pipe[0]);
  lines.finish();
  int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (code != 0 && passed_on != 0) code = 128 + passed_on;  // mpirun would return a code of its own
  if (code != 0 && !lines.spoke() && passed_on == 0) {
    std::string why = lines.killed();
    if (hung)
      why = fmt::format("no step has ended for {} s", timeout);
    else if (why.empty() && code > 128)
      why = fmt::format("all ranks, one process, were ended by signal {} ({})", code - 128,
                        ::strsignal(code - 128));
    else if (why.empty())
      why = fmt::format("the run has ended with exit code {}, without a word", code);
    fmt::print(stderr, "tutti: {}\n", why);
  }
  return {code, passed_on != 0};
}

void (*heartbeat())() {
  if (std::getenv(heartbeat_variable) == nullptr) return nullptr;
  return [] {
    static Clock::time_point next = Clock::now();
    if (Clock::now() < next) return;
    next = Clock::now() + std::chrono::milliseconds(200);
    ::utimensat(AT_FDCWD, std::getenv(heartbeat_variable), nullptr, 0);
  };
}

}  // namespace tutti::cli
