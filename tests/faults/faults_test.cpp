// SPDX-License-Identifier: Apache-2.0
// Runs that fail at a random place, in a random way (L12): each ends within ten seconds with one
// message that says who failed, and nothing of what a checkpoint had saved is lost: the run that
// goes on from it ends with the same bits as one that never failed. TUTTI_FAULT_SEEDS sets how
// many.
#include "cli/run_cli.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/core/rng.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace tutti::cli {
namespace {

constexpr double most_seconds = 10;
constexpr int steps = 20;

enum Kind { raise_, exit_, kill_, hang_, killed_writer, torn_file };
constexpr const char* names[] = {"throw", "exit", "kill", "hang", "killed writer", "torn file"};

struct Case {
  Kind kind = raise_;
  bool processes = false;
  int ranks = 2, rank = 0, step = 0, every = 1;
  double part = 0;  // of the time, or of the file

  std::string text() const {
    return fmt::format("{} of rank {} of {} {} at step {}, checkpoints every {}, part {:.2f}",
                       names[kind], rank, ranks, processes ? "processes" : "threads", step, every,
                       part);
  }
};

Case random_case(std::uint64_t seed) {
  std::uint64_t drawn = 0;
  const auto draw_below = [&](int count) {
    return static_cast<int>(draw(fold(7, seed), drawn++) % static_cast<std::uint64_t>(count));
  };
  Case made;
  made.kind = static_cast<Kind>(draw_below(6));
  made.processes = draw_below(2) == 1 && has_mpi() && made.kind != killed_writer;
  made.ranks = 2 + draw_below(3);
  made.rank = draw_below(made.ranks);
  made.step = draw_below(steps);
  made.every = made.kind == killed_writer ? 1 : 1 + draw_below(6);
  made.part = uniform(fold(8, seed), 0);
  return made;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Faults {
 public:
  explicit Faults(Sandbox& sandbox) : sandbox_(sandbox) {
    sandbox_.write("small.toml", small_recipe);
    for (const int ranks : {2, 3, 4}) {
      expect_success(sandbox_.run(launch({false, ranks}, "none", fmt::format("whole{}", ranks))));
      whole_[ranks] = bits(fmt::format("whole{}", ranks));
    }
  }

  void run(const Case& one) {
    for (const char* end :
         {".safetensors", ".state", ".best.safetensors", ".safetensors.new", ".state.new"})
      std::filesystem::remove(sandbox_.file(std::string("run") + end));
    const double began = now();
    const Result result = one.kind == killed_writer ? killed(one) : struck(one);
    const double seconds = now() - began;
    slowest = std::max(slowest, seconds);
    EXPECT_LT(seconds, most_seconds);
    if (one.kind == torn_file) return expect_refused(one);
    if (one.kind != killed_writer) expect_message(one, result);
    expect_same_end(one);
  }

  double slowest = 0;

 private:
  struct Ranks {
    bool processes = false;
    int ranks = 2;
  };
  static Words launch(const Ranks& on, const std::string& fault, const std::string& checkpoint,
                      int every = 0, const Words& more = {}) {
    Words words = {"launch", "-n", std::to_string(on.ranks)};
    if (on.processes) words.insert(words.end(), {"--transport", "mpi"});
    words.insert(words.end(), {"--timeout", "1", "--", "train", "small.toml"});
    for (const std::string& change :
         {std::string("exchange.order=fixed"), "machine.fault=" + fault,
          "train.checkpoint=" + checkpoint, fmt::format("train.checkpoint_every={}", every),
          fmt::format("train.steps={}", steps), std::string("train.record=none")})
      words.insert(words.end(), {"--set", change});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Ranks ranks_of(const Case& one) { return {one.processes, one.ranks}; }

  std::string bits(const std::string& name) const {
    return sandbox_.read(name + ".safetensors") + sandbox_.read(name + ".state");
  }

  Result struck(const Case& one) {
    std::string fault = fmt::format("{} {} {}", names[one.kind], one.rank, one.step);
    if (one.kind == torn_file) fault = "none";
    return sandbox_.run(launch(ranks_of(one), fault, "run", one.every));
  }

  // A process whose ranks are threads, killed while it writes checkpoint after checkpoint.
  Result killed(const Case& one) {
    Words words = launch({false, one.ranks}, "none", "run", one.every);
    words.erase(words.begin(), std::find(words.begin(), words.end(), "train"));
    words.insert(words.end(), {"--set", fmt::format("partition.data={}", one.ranks)});
    const pid_t child = sandbox_.start(words);
    ::usleep(static_cast<unsigned>(2e5 * one.part));
    ::kill(child, SIGKILL);
    return sandbox_.wait(child);
  }

  static void expect_message(const Case& one, const Result& result) {
    EXPECT_NE(result.code, 0);
    const auto spoken = std::count(result.err.begin(), result.err.end(), '\n');
    EXPECT_GE(spoken, 1) << result.err;
    EXPECT_LE(spoken, one.kind == hang_ ? 2 : 1) << result.err;  // who waits, and who does not end
    const std::string rank = fmt::format("rank {}", one.rank);
    if (one.kind == raise_) {
      EXPECT_TRUE(contains(result.err, rank + " failed")) << result.err;
      EXPECT_TRUE(contains(result.err, fmt::format("step {}", one.step))) << result.err;
    } else if (one.kind == hang_ || one.processes) {
      EXPECT_TRUE(contains(result.err, rank)) << result.err;
    } else {
      EXPECT_TRUE(contains(result.err, one.kind == exit_ ? "exit code 9" : "signal 9"))
          << result.err;
    }
  }

  // From the checkpoint that the failure left, or from the start.
  void expect_same_end(const Case& one) {
    const bool left = sandbox_.has("run.state");
    if (one.kind < killed_writer) expect_checkpoint(one, left);
    const Result again = sandbox_.run(
        launch({false, one.ranks}, "none", "run", 0, Words{left ? "--resume" : "--overwrite"}));
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_TRUE(bits("run") == whole_.at(one.ranks));
  }

  // A rank may be struck at the step at which rank 0 still writes the first checkpoint. One step
  // later it has been written: rank 0 has said how that step began.
  static void expect_checkpoint(const Case& one, bool left) {
    if (one.step < one.every) {
      EXPECT_FALSE(left);
    } else if (one.step > one.every || one.rank == 0) {
      EXPECT_TRUE(left);
    }
  }

  // A file that ends too early is named, not read.
  void expect_refused(const Case& one) {
    const std::string name = one.rank == 0 ? "run.safetensors" : "run.state";
    const auto size = std::filesystem::file_size(sandbox_.file(name));
    std::filesystem::resize_file(sandbox_.file(name),
                                 static_cast<std::uintmax_t>(one.part * static_cast<double>(size)));
    const Result again = sandbox_.run(launch({false, one.ranks}, "none", "run", 0, {"--resume"}));
    EXPECT_EQ(again.code, 1) << again.err;
    EXPECT_TRUE(contains(again.err, name)) << again.err;
    EXPECT_EQ(std::count(again.err.begin(), again.err.end(), '\n'), 1) << again.err;
  }

  Sandbox& sandbox_;
  std::map<int, std::string> whole_;
};

TEST(Faults, EndWithAMessageAndLoseNothing_L12) {
  const char* asked = std::getenv("TUTTI_FAULT_SEEDS");
  const int seeds = asked == nullptr ? 10 : std::atoi(asked);
  Sandbox sandbox;
  Faults faults(sandbox);
  std::map<std::string, int> counts;
  for (int seed = 0; seed < seeds; ++seed) {
    const Case one = random_case(static_cast<std::uint64_t>(seed));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, one.text()));
    faults.run(one);
    ++counts[fmt::format("{}, {}", names[one.kind], one.processes ? "processes" : "threads")];
  }
  for (const auto& [name, count] : counts) fmt::print("{:3} {}\n", count, name);
  fmt::print("{} seeds, the slowest took {:.1f} s\n", seeds, faults.slowest);
}

}  // namespace
}  // namespace tutti::cli
