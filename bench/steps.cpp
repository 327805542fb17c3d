// SPDX-License-Identifier: Apache-2.0
#include "bench/steps.h"

#include "bench/round_trip.h"
#include "bench/side.h"
#include "bench/time_operator.h"
#include "bench/torch.h"
#include "bench/workload.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace tutti::bench {
namespace {

constexpr double largest_checked_flops = 5e9;

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

std::vector<Side> our_sides(const Options& options, const Workload& workload,
                            const std::string& path) {
  std::vector<Side> sides;
  for (const int threads : options.threads)
    sides.push_back(our_side(options, workload, path, threads, 1));
  if (std::find(options.threads.begin(), options.threads.end(), 2) != options.threads.end())
    for (const bool shard : {false, true})
      sides.push_back(our_side(options, workload, path, 1, 2, shard));
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

// All sides run once per round, in turns forwards and backwards; returns the round trips meanwhile.
std::vector<double> run_rounds(const Options& options, std::vector<Side>& sides) {
  std::vector<double> round_trips;
  for (int round = 0; round < options.repeats; ++round) {
    round_trips.push_back(round_trip_ns());
    for (std::size_t k = 0; k < sides.size(); ++k) {
      Side& side = sides[round % 2 == 0 ? k : sides.size() - 1 - k];
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

void compare_ours(const std::string& name, std::vector<Side>& sides, double round_trip,
                  Records& records) {
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
}

// The fastest way of the peer's against ours. Its memory is the least that it takes in that way and
// by itself: what makes it faster may take more.
void compare_with_peer(const std::string& name, std::vector<Side>& sides, const Side& by_itself,
                       double round_trip, Records& records) {
  const int threads = by_itself.threads;
  const Side* own = fastest(sides, [=](const Side& side) {
    return !side.peer && side.threads == threads && side.ranks == 1;
  });
  const Side* peer =
      fastest(sides, [=](const Side& side) { return side.peer && side.threads == threads; });
  records.ratio(
      fmt::format("{}: {} / tutti", name, peer->name), ratios(peer->ms, own->ms), round_trip,
      {{"tutti_ms", spread_of(own->ms).median}, {"torch_ms", spread_of(peer->ms).median}});
  const double own_bytes = memory_of(*own);
  const double peer_bytes = std::min(memory_of(*peer), memory_of(by_itself));
  const double ratio = peer_bytes / own_bytes;
  records.ratio(fmt::format("{}: torch {} / tutti, peak memory", name, threads_text(threads)),
                {ratio, ratio, ratio, ratio}, round_trip,
                {{"tutti_bytes", own_bytes}, {"torch_bytes", peer_bytes}});
}

void bench_workload(const Options& options, const std::optional<Torch>& torch, const Peaks& peaks,
                    Records& records, const Workload& workload, const std::string& name) {
  const TemporaryFile file;
  write_workload(workload, file.path);
  Work work;
  Expected expected;
  expected.loss = check_step(workload, file.path, work);
  const List<Model> all_models = models();
  expected.parameters = static_cast<double>(
      build_net(all_models.find(workload.model()), workload.settings, workload.input)
          .table.parameters(true));
  // Sums in another order; in bf16 what is stored between products is rounded elsewhere.
  expected.tolerance = workload.bf16() ? 1e-2 : 1e-4;
  std::vector<Side> sides = our_sides(options, workload, file.path);
  if (torch)
    for (const int threads : options.threads)
      for (Side& side : fastest_torch_sides(options, *torch, workload, file.path, threads, expected,
                                            name, records))
        sides.push_back(std::move(side));
  for (Side& side : sides) start(side, options, expected);
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
  compare_ours(name, sides, round_trips.median, records);
  if (torch)
    for (const int threads : options.threads)
      compare_with_peer(name, sides, torch_side(*torch, workload, file.path, threads, {}),
                        round_trips.median, records);
}

// ResNet-20 and PyTorch's from the same weights over the same batches in the same order: the losses
// of 20 steps must agree.
void bench_curve(const Options& options, const Torch& torch, Records& records,
                 const std::string& name) {
  const std::vector<Workload> all = workloads();
  Workload workload = *std::find_if(all.begin(), all.end(),
                                    [](const Workload& one) { return one.name == "resnet20"; });
  workload.batches = 5;
  const TemporaryFile file;
  write_workload(workload, file.path);
  Side ours = our_side(options, workload, file.path, options.threads.back(), 1);
  Side theirs = torch_side(torch, workload, file.path, options.threads.back(), {});
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
  const std::string curve = "curve/resnet20 b128, 20 steps";
  std::vector<std::pair<std::string, Workload>> wanted;
  for (const Workload& workload : workloads()) {
    const std::string name =
        fmt::format("step/{} {} b{}", workload.name, workload.doc, workload.batch);
    if (options.wants(name)) wanted.emplace_back(name, workload);
  }
  std::optional<Torch> torch;
  if (options.peers && (!wanted.empty() || options.wants(curve))) {
    torch = find_torch(options);
    records.note({{"name", "peer"}, {"torch", torch->description}});
  }
  for (const auto& [name, workload] : wanted)
    bench_workload(options, torch, peaks, records, workload, name);
  if (torch && options.wants(curve)) bench_curve(options, *torch, records, curve);
}

}  // namespace tutti::bench
