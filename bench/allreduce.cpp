// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/core/cores.h"
#include "tutti/cost/allreduce_times.h"

#include "bench/child.h"
#include "bench/machine.h"

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <sstream>

namespace tutti::bench {
namespace {

constexpr int ranks = 2;

// What a rank reads and writes of its own vector and of its peer's, if nothing is moved twice.
Work traffic_of(std::int64_t bytes) { return {.bytes = 4.0 * static_cast<double>(bytes)}; }

std::vector<AllreduceTime> time_threads(const AllreduceSweep& sweep) {
  std::vector<AllreduceTime> all;
  run_ranks(ranks, [&](Communicator& communicator) {
    const std::vector<int>& cores = allowed_cores();
    run_on_core(cores[static_cast<std::size_t>(communicator.rank()) % cores.size()]);
    time_allreduces(communicator, allreduces(), sweep,
                    [&](const std::vector<AllreduceTime>& times) {
                      all.insert(all.end(), times.begin(), times.end());
                    });
  });
  return all;
}

AllreduceSweep one_size(const Options& options, std::int64_t bytes, int rounds) {
  return {.least_bytes = bytes,
          .most_bytes = bytes,
          .rounds = rounds,
          .round_seconds = options.round_ms() / 1e3 / 11};
}

Spread in_ms(std::vector<double> seconds) {
  for (double& one : seconds) one *= 1e3;
  return spread_of(std::move(seconds));
}

void bench_algorithms(const Options& options, const Peak& peak, Records& records) {
  for (const std::int64_t bytes : {1 << 10, 1 << 16, 1 << 20, 1 << 24}) {
    const auto name = [&](const std::string& algorithm) {
      return fmt::format("allreduce/{} {} KiB/{} ranks × 1 thread", algorithm, bytes >> 10, ranks);
    };
    AllreduceSweep sweep = one_size(options, bytes, options.repeats);
    for (const std::string& algorithm : allreduces().names())
      if (algorithm != "mpi" && options.wants(name(algorithm)))
        sweep.algorithms.push_back(algorithm);
    if (sweep.algorithms.empty()) continue;
    for (const AllreduceTime& time : time_threads(sweep))
      records.time(name(time.algorithm), in_ms(time.seconds), traffic_of(bytes), peak,
                   round_trip_ns());
  }
}

// One side of a comparison: a program that answers how long an allreduce takes.
struct Peer {
  std::string name, algorithm;
  Child* child;
  std::vector<double> seconds = {};
  int repeats = 1;

  double ask(std::int64_t bytes, int times) const {
    return std::stod(child->ask(fmt::format("{} {} {}", algorithm, bytes, times)));
  }
};

// The program, where it was built and answers.
std::optional<Child> started(const std::string& name, std::vector<std::string> launcher) {
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
  if (!std::filesystem::exists(program)) {
    fmt::print(stderr, "tutti_bench: {} was not built; ./dev deps peers installs what it needs\n",
               name);
    return std::nullopt;
  }
  launcher.push_back(program.string());
  Child child(name, launcher);
  if (child.ask("") != "ready") throw Error("{} does not begin with 'ready'", name);
  return child;
}

void bench_peers_at(const Options& options, std::int64_t bytes, const Peak& peak,
                    std::vector<Peer>& peers, Records& records) {
  const std::string name = fmt::format("allreduce/peers {} B/{} ranks", bytes, ranks);
  if (!options.wants(name)) return;
  AllreduceSweep sweep = one_size(options, bytes, 1);
  sweep.algorithms = {"auto"};
  for (Peer& peer : peers) {
    peer.seconds.clear();
    peer.repeats = std::clamp(static_cast<int>(sweep.round_seconds / peer.ask(bytes, 3)), 1, 20000);
  }
  std::vector<double> ours, round_trips;
  for (int round = 0; round < options.repeats; ++round) {
    round_trips.push_back(round_trip_ns());
    ours.push_back(time_threads(sweep)[0].seconds[0]);
    for (std::size_t k = 0; k < peers.size(); ++k) {
      Peer& peer = peers[round % 2 == 0 ? k : peers.size() - 1 - k];
      peer.seconds.push_back(peer.ask(bytes, peer.repeats));
    }
  }
  const double round_trip = spread_of(round_trips).median;
  records.time(name + "/tutti", in_ms(ours), traffic_of(bytes), peak, round_trip);
  for (const Peer& peer : peers) {
    records.time(fmt::format("{}/{}", name, peer.name), in_ms(peer.seconds), traffic_of(bytes),
                 peak, round_trip);
    std::vector<double> ratios;
    for (std::size_t k = 0; k < ours.size(); ++k) ratios.push_back(peer.seconds[k] / ours[k]);
    records.ratio(fmt::format("allreduce {} B: {} / tutti", bytes, peer.name),
                  spread_of(std::move(ratios)), round_trip);
  }
}

void bench_peers(const Options& options, const Peak& peak, Records& records) {
  if (!options.peers || !options.wants("allreduce/peers")) return;
  std::vector<std::string> mpirun = {"mpirun", "-n", std::to_string(ranks)};
  if (::geteuid() == 0) mpirun.emplace_back("--allow-run-as-root");
  std::optional<Child> gloo = started("gloo_allreduce", {});
  std::optional<Child> mpi = started("mpi_allreduce", std::move(mpirun));
  std::vector<Peer> peers;
  if (mpi) peers.push_back({"MPI", "own", &*mpi});
  if (gloo) peers.push_back({"gloo ring", "ring", &*gloo});
  if (gloo) peers.push_back({"gloo bcube", "bcube", &*gloo});
  for (std::int64_t bytes = 4; bytes <= 64 << 20; bytes *= 8)
    bench_peers_at(options, bytes, peak, peers, records);
}

}  // namespace

void bench_allreduce(const Options& options, const Peaks& peaks, Records& records) {
  const auto both = peaks.find(ranks);
  const Peak peak = both == peaks.end() ? Peak{} : both->second;
  bench_algorithms(options, peak, records);
  bench_peers(options, peak, records);
}

}  // namespace tutti::bench
