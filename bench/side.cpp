// SPDX-License-Identifier: Apache-2.0
#include "bench/side.h"

#include "tutti/core/error.h"

#include "bench/time_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace tutti::bench {
namespace {

constexpr std::size_t finalists = 3;

// Milliseconds of a step in one way of running PyTorch; infinity where that does not work.
double time_way(Side side, const Options& options, const Expected& expected, bool must_work) {
  try {
    start(side, options, expected);
    for (int round = 0; round < (options.quick ? 1 : 3); ++round)
      side.ms.push_back(side.run(side.steps) / side.steps);
    return spread_of(side.ms).median;
  } catch (const Error& error) {
    if (must_work) throw;
    fmt::print(stderr, "tutti_bench: {}\n", error.what());
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

double Side::run(int count) {
  std::istringstream words(child->ask(fmt::format("run {}", count)));
  double total = 0;
  words >> total >> loss;
  if (!words) throw Error("{}: expected milliseconds and the loss", name);
  return total;
}

void start(Side& side, const Options& options, const Expected& expected) {
  side.child.emplace(side.start());
  std::istringstream words(side.child->ask(""));
  std::string ready;
  words >> ready >> side.parameters;
  if (ready != "ready" || side.parameters != expected.parameters)
    throw Error("{} has {} parameters, expected {}", side.name, side.parameters,
                expected.parameters);
  side.run(1);
  if (!(std::abs(side.loss - expected.loss) <= expected.tolerance * std::abs(expected.loss)))
    throw Error("{}: the first loss is {}, expected {}", side.name, side.loss, expected.loss);
  side.run(2);
  const double ms = side.run(3) / 3;
  side.steps = std::clamp(static_cast<int>(options.round_ms() / ms), 1, 1000);
}

double memory_of(const Side& side) {
  Child child = side.start();
  child.ask("");
  child.ask("run 20");
  return std::stod(child.ask("memory"));
}

Side our_side(const Options& options, const Workload& workload, const std::string& path,
              int threads, int ranks, bool shard) {
  std::string name = ranks == 1 ? fmt::format("tutti {}", threads_text(threads))
                                : fmt::format("tutti {} ranks × {}", ranks, threads_text(threads));
  std::vector<std::string> command = {
      options.program,         "--serve", workload.name,        "--data", path, "--threads",
      std::to_string(threads), "--ranks", std::to_string(ranks)};
  if (shard) {
    name += ", sharded";
    command.emplace_back("--shard");
  }
  return {
      .name = name, .threads = threads, .ranks = ranks, .shard = shard, .start = [name, command] {
        return Child(name, command);
      }};
}

Side torch_side(const Torch& torch, const Workload& workload, const std::string& path, int threads,
                const Way& way) {
  return {.name = fmt::format("torch {} ({})", threads_text(threads), way.text()),
          .threads = threads,
          .peer = true,
          .start = [=] { return start_torch(torch, workload, path, threads, way); }};
}

std::vector<Side> fastest_torch_sides(const Options& options, const Torch& torch,
                                      const Workload& workload, const std::string& path,
                                      int threads, const Expected& expected,
                                      const std::string& name, Records& records) {
  const auto settings = torch_settings(torch, workload, threads);
  bool first = true;
  const std::vector<Trial> trials = search(settings, torch_order(settings), [&](const Way& way) {
    return time_way(torch_side(torch, workload, path, threads, way), options, expected,
                    std::exchange(first, false));
  });
  nlohmann::ordered_json times;
  std::vector<Side> sides;
  for (const Trial& trial : trials) {
    const bool works = std::isfinite(trial.ms);
    times[trial.way.text()] = works ? nlohmann::ordered_json(trial.ms) : "does not work here";
    if (works && sides.size() < finalists)
      sides.push_back(torch_side(torch, workload, path, threads, trial.way));
  }
  records.note({{"name", fmt::format("{}/torch {}: trials", name, threads_text(threads))},
                {"trial_ms", times}});
  return sides;
}

}  // namespace tutti::bench
