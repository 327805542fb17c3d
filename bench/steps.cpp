// SPDX-License-Identifier: Apache-2.0
#include "bench/steps.h"

#include "bench/child.h"
#include "bench/machine.h"
#include "bench/time_operator.h"
#include "bench/workload.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

namespace tutti::bench {
namespace {

// Idle threads of the other side stop spinning within this time.
constexpr auto pause_between_sides = std::chrono::milliseconds(50);

constexpr double largest_checked_flops = 5e9;

// One process that runs steps when asked.
struct Side {
  std::string name;
  int threads = 1, ranks = 1;
  bool peer = false;
  bool shard = false;  // ranks update their own parts only
  std::function<Child()> start;
  std::optional<Child> child = {};
  int steps = 1;  // per round
  double parameters = 0, loss = 0;
  std::vector<double> ms = {};  // of a step, per round

  // Milliseconds of `count` steps; sets `loss`.
  double run(int count) {
    std::istringstream words(child->ask(fmt::format("run {}", count)));
    double total = 0;
    words >> total >> loss;
    if (!words) throw Error("{}: expected milliseconds and the loss", name);
    return total;
  }
};

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string pattern = std::filesystem::temp_directory_path() / "tutti_bench_XXXXXX";
    const int descriptor = mkstemp(pattern.data());
    if (descriptor < 0) throw Error("no temporary file can be made as {}", pattern);
    close(descriptor);
    path = pattern;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string path;
};

Side our_side(const Options& options, const Workload& workload, const std::string& path,
              int threads, int ranks, bool shard = false) {
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

// Debian's python3 is the one that has Debian's PyTorch.
std::string python() {
  return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3";
}

Side torch_side(const Workload& workload, const std::string& path, int threads,
                const std::string& layout) {
  const std::string count = std::to_string(threads);
  const std::string name = fmt::format("torch {} {}", layout, threads_text(threads));
  const std::vector<std::string> command = {
      python(), std::string(TUTTI_PEERS) + "/torch_steps.py", workload.name, path, count, layout};
  return {
      .name = name, .threads = threads, .peer = true, .start = [=] {
        return Child(name, command, {{"OMP_NUM_THREADS", count}, {"OPENBLAS_NUM_THREADS", count}});
      }};
}

std::vector<Side> sides_of(const Options& options, const Workload& workload,
                           const std::string& path) {
  std::vector<Side> sides;
  for (const int threads : options.threads)
    sides.push_back(our_side(options, workload, path, threads, 1));
  if (std::find(options.threads.begin(), options.threads.end(), 2) != options.threads.end())
    for (const bool shard : {false, true})
      sides.push_back(our_side(options, workload, path, 1, 2, shard));
  if (!options.peers) return sides;
  for (const int threads : options.threads) {
    sides.push_back(torch_side(workload, path, threads, "plain"));
    if (workload.name != "mlp")
      sides.push_back(torch_side(workload, path, threads, "channels_last"));
  }
  return sides;
}

// A step of the CPU back end against one of the reference: loss and all weights after the update.
// Large networks, for which plain loops would take minutes, are checked against the other sides
// only. Returns the first loss.
double check_step(const Workload& workload, const std::string& path, Work& work) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  const WorkloadFile file(path);
  Batch batch = file.batch(0, 1);
  const auto step = [&](const char* backend) {
    ReplicaOptions options = replica_options(workload, all_models, all_rules, 1);
    options.backend = backend;
    auto replica = std::make_unique<Replica>(options);
    file.load_weights(*replica);
    const double loss = replica->step(batch.pointers, {.key = 1, .rate = file.rate()}).loss;
    return std::pair(std::move(replica), loss);
  };
  const auto [fast, loss] = step("cpu");
  work = work_of_step(*fast, workload);
  if (work.flops > largest_checked_flops) return loss;
  const auto [reference, expected_loss] = step("reference");
  if (!(std::abs(loss - expected_loss) <= 1e-5 * std::abs(expected_loss)))
    throw Error("{}: the first loss is {}, by the reference {}", workload.name, loss,
                expected_loss);
  const auto* v = static_cast<const float*>(fast->state(0));
  const auto* expected = static_cast<const float*>(reference->state(0));
  float largest = 0, error = 0;  // of the first step −ηg: the gradient
  for (std::int64_t i = 0; i < fast->table().count(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    error = std::max(error, std::abs(v[i] - expected[i]));
  }
  // Float sums of a thousand terms in another order.
  if (!(error <= 1e-4f * largest))
    throw Error("{}: the gradient differs from the reference by {:.2g} of its largest element",
                workload.name, error / largest);
  return loss;
}

// Starts a side, checks its first step and finds how many steps make a round.
void start(Side& side, const Options& options, double first_loss, double parameters,
           double tolerance) {
  side.child.emplace(side.start());
  std::istringstream words(side.child->ask(""));
  std::string ready;
  words >> ready >> side.parameters;
  if (ready != "ready" || side.parameters != parameters)
    throw Error("{} has {} parameters, expected {}", side.name, side.parameters, parameters);
  side.run(1);
  if (!(std::abs(side.loss - first_loss) <= tolerance * std::abs(first_loss)))
    throw Error("{}: the first loss is {}, expected {}", side.name, side.loss, first_loss);
  side.run(2);
  const double ms = side.run(3) / 3;
  side.steps = std::clamp(static_cast<int>(options.round_ms() / ms), 1, 1000);
  std::this_thread::sleep_for(pause_between_sides);
}

// All sides run once per round, in turns forwards and backwards; returns the round trips meanwhile.
std::vector<double> run_rounds(const Options& options, std::vector<Side>& sides) {
  std::vector<double> round_trips;
  for (int round = 0; round < options.repeats; ++round) {
    round_trips.push_back(round_trip_ns());
    for (std::size_t k = 0; k < sides.size(); ++k) {
      Side& side = sides[round % 2 == 0 ? k : sides.size() - 1 - k];
      std::this_thread::sleep_for(pause_between_sides);
      side.ms.push_back(side.run(side.steps) / side.steps);
    }
  }
  for (const Side& side : sides)
    if (!std::isfinite(side.loss)) throw Error("{}: the loss has become {}", side.name, side.loss);
  return round_trips;
}

// The fastest side among those wanted, or nullptr.
Side* fastest(std::vector<Side>& sides, const std::function<bool(const Side&)>& wanted) {
  Side* best = nullptr;
  for (Side& side : sides)
    if (wanted(side) && (best == nullptr || spread_of(side.ms).median < spread_of(best->ms).median))
      best = &side;
  return best;
}

Spread ratios(const std::vector<double>& theirs, const std::vector<double>& ours) {
  std::vector<double> each;
  for (std::size_t k = 0; k < ours.size(); ++k) each.push_back(theirs[k] / ours[k]);
  return spread_of(std::move(each));
}

// Peak resident bytes of a fresh process after 20 steps.
double memory_of(const Side& side) {
  Child child = side.start();
  child.ask("");
  child.ask("run 20");
  return std::stod(child.ask("memory"));
}

void compare_sides(const std::string& name, std::vector<Side>& sides, double round_trip,
                   const Options& options, Records& records) {
  const auto ours = [&](int threads, int ranks, bool shard = false) {
    return fastest(sides, [=](const Side& side) {
      return !side.peer && side.threads == threads && side.ranks == ranks && side.shard == shard;
    });
  };
  for (const bool shard : {false, true})
    if (Side* two = ours(2, 1), *ranks = ours(1, 2, shard); two != nullptr && ranks != nullptr)
      records.ratio(fmt::format("{}: 1 rank × 2 threads / 2 ranks × 1 thread{}", name,
                                shard ? ", sharded" : ""),
                    ratios(two->ms, ranks->ms), round_trip);
  if (Side* one = ours(1, 1), *two = ours(2, 1); one != nullptr && two != nullptr)
    records.ratio(name + ": 1 thread / 2 threads", ratios(one->ms, two->ms), round_trip);
  for (const int threads : options.threads) {
    const Side* own = ours(threads, 1);
    const double own_bytes = options.peers ? memory_of(*own) : 0;
    for (const Side& peer : sides) {
      if (!peer.peer || peer.threads != threads) continue;
      records.ratio(fmt::format("{}: {} / tutti", name, peer.name), ratios(peer.ms, own->ms),
                    round_trip);
      const double peer_bytes = memory_of(peer), ratio = peer_bytes / own_bytes;
      records.ratio(fmt::format("{}: {} / tutti, peak memory", name, peer.name),
                    {ratio, ratio, ratio, ratio}, round_trip,
                    {{"tutti_bytes", own_bytes}, {"torch_bytes", peer_bytes}});
    }
  }
}

void bench_workload(const Options& options, const Peaks& peaks, Records& records,
                    const Workload& workload, const std::string& name) {
  const TemporaryFile file;
  write_workload(workload, file.path);
  Work work;
  const double first_loss = check_step(workload, file.path, work);
  std::vector<Side> sides = sides_of(options, workload, file.path);
  const List<Model> all_models = models();
  const double parameters = static_cast<double>(
      build_net(all_models.find(workload.model()), workload.settings, workload.input)
          .table.parameters(true));
  // Sums in another order; in bf16 what is stored between products is rounded elsewhere.
  const double tolerance = workload.bf16() ? 1e-2 : 1e-4;
  for (Side& side : sides) start(side, options, first_loss, parameters, tolerance);
  const Spread round_trips = spread_of(run_rounds(options, sides));
  for (const Side& side : sides) {
    const auto peak = peaks.find(side.threads * side.ranks);
    records.time(fmt::format("{}/{}", name, side.name), spread_of(side.ms), {.flops = work.flops},
                 peak == peaks.end() ? Peak{} : peak->second, round_trips.median,
                 {{"steps_per_round", side.steps},
                  {"rounds", options.repeats},
                  {"round_trip_ns_low", round_trips.low},
                  {"round_trip_ns_high", round_trips.high}});
  }
  compare_sides(name, sides, round_trips.median, options, records);
}

// ResNet-20 and PyTorch's from the same weights over the same batches in the same order: the losses
// of 20 steps must agree.
void bench_curve(const Options& options, Records& records) {
  const std::string name = "curve/resnet20 b128, 20 steps";
  if (!options.peers || !options.wants(name)) return;
  const std::vector<Workload> all = workloads();
  Workload workload = *std::find_if(all.begin(), all.end(),
                                    [](const Workload& one) { return one.name == "resnet20"; });
  workload.batches = 5;
  const TemporaryFile file;
  write_workload(workload, file.path);
  Side ours = our_side(options, workload, file.path, options.threads.back(), 1);
  Side theirs = torch_side(workload, file.path, options.threads.back(), "plain");
  for (Side* side : {&ours, &theirs}) {
    side->child.emplace(side->start());
    side->child->ask("");
  }
  double largest = 0;
  std::vector<double> our_losses, their_losses;
  for (int step = 0; step < 20; ++step) {
    for (Side* side : {&ours, &theirs}) side->run(1);
    our_losses.push_back(ours.loss);
    their_losses.push_back(theirs.loss);
    largest = std::max(largest, std::abs(ours.loss - theirs.loss) / theirs.loss);
  }
  records.note({{"name", name},
                {"largest_difference", largest},
                {"tutti", our_losses},
                {"torch", their_losses}});
  if (!(largest <= 1e-3))
    throw Error("{}: losses differ by {:.2g} of PyTorch's, expected at most 1e-3", name, largest);
}

}  // namespace

void bench_steps(const Options& options, const Peaks& peaks, Records& records) {
  for (const Workload& workload : workloads()) {
    const std::string name =
        fmt::format("step/{} {} b{}", workload.name, workload.doc, workload.batch);
    if (options.wants(name)) bench_workload(options, peaks, records, workload, name);
  }
  bench_curve(options, records);
}

}  // namespace tutti::bench
