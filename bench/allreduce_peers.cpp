// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce_peers.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/core/cores.h"
#include "tutti/core/own_program.h"

#include "bench/child.h"
#include "bench/round_trip.h"

#include <unistd.h>

#include <filesystem>
#include <limits>
#include <map>
#include <memory>

namespace tutti::bench {
namespace {

constexpr const char *shared_memory = "shared memory", *tcp = "TCP";
constexpr const char *tutti_name = "tutti", *mpi_name = "MPI", *gloo_name = "gloo";

// A program that answers how long an allreduce takes; several may share a process.
struct Contender {
  std::string library, transport, way;  // way: settings or algorithm, where there are several
  std::string algorithm;                // as the program is asked
  std::shared_ptr<Child> child;
  std::vector<double> seconds = {};
  int repeats = 1;

  std::string name() const {
    const std::string text = fmt::format("{} over {}", library, transport);
    return way.empty() ? text : fmt::format("{} ({})", text, way);
  }
  double ask(std::int64_t bytes, int times) const {
    return std::stod(child->ask(fmt::format("{} {} {}", algorithm, bytes, times)));
  }
};

// The program beside this one, if it was built and answers here; if not, that is said.
std::shared_ptr<Child> started(const std::string& what, std::vector<std::string> launcher,
                               const std::string& program, const std::vector<std::string>& words) {
  const std::filesystem::path path = std::filesystem::path(own_program()).parent_path() / program;
  try {
    if (!std::filesystem::exists(path))
      throw Error("{} was not built; ./dev deps peers installs what it needs", program);
    launcher.push_back(path.string());
    launcher.insert(launcher.end(), words.begin(), words.end());
    auto child = std::make_shared<Child>(program, launcher);
    if (child->ask("") != "ready") throw Error("{} does not begin with 'ready'", program);
    return child;
  } catch (const Error& error) {
    fmt::print(stderr, "tutti_bench: without {}: {}\n", what, error.what());
    return nullptr;
  }
}

// Settings of Open MPI, as words of mpirun.
struct MpiSettings {
  std::string transport, way;
  std::vector<std::string> words;
};

const std::vector<std::string> vader = {"--mca", "pml", "ob1", "--mca", "btl", "vader,self"};
const std::vector<std::string> sockets = {
    "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"};

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<MpiSettings> mpi_settings() {
  return {{shared_memory, "as it is by itself", {}},
          {shared_memory, "vader", vader},
          {shared_memory, "vader, no single copies",
           joined(vader, {"--mca", "btl_vader_single_copy_mechanism", "none"})},
          {shared_memory, "vader, coll/sm", joined(vader, {"--mca", "coll_sm_priority", "100"})},
          {shared_memory, "UCX", {"--mca", "pml", "ucx", "-x", "UCX_TLS=self,sm"}},
          {tcp, "", sockets}};
}

std::vector<std::string> mpirun(const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"mpirun", "-q", "-n", std::to_string(sum_ranks)};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  return joined(words, settings);
}

std::vector<Contender> contenders() {
  std::vector<Contender> all;
  const auto add = [&](const Contender& one) {
    if (one.child != nullptr) all.push_back(one);
  };
  const std::string own = std::filesystem::path(own_program()).filename().string();
  for (const bool messages : {false, true})
    add({tutti_name, messages ? tcp : shared_memory, "", "auto",
         started(fmt::format("our processes over {}", messages ? tcp : shared_memory),
                 mpirun(messages ? sockets : vader), own,
                 {"--serve-sums", messages ? "messages" : "shared"})});
  for (const MpiSettings& one : mpi_settings())
    add({mpi_name, one.transport, one.way, "own",
         started(fmt::format("MPI over {} {}", one.transport, one.way), mpirun(one.words),
                 "mpi_allreduce", {})});
  const auto gloo = started(gloo_name, {}, "gloo_allreduce", {});
  for (const char* algorithm : {"ring", "chunked-ring", "halving-doubling", "bcube"})
    add({gloo_name, tcp, algorithm, algorithm, gloo});
  return all;
}

const Contender* fastest(const std::vector<Contender>& all, const std::string& library,
                         const std::string& transport) {
  const Contender* best = nullptr;
  for (const Contender& one : all)
    if (one.library == library && one.transport == transport)
      if (best == nullptr || spread_of(one.seconds).median < spread_of(best->seconds).median)
        best = &one;
  return best;
}

void compare(const std::string& name, const Contender* peer, const std::string& own_name,
             const std::vector<double>& own, double round_trip, Records& records) {
  if (peer == nullptr || own.empty()) return;
  std::vector<double> ratios;
  for (std::size_t k = 0; k < own.size(); ++k) ratios.push_back(peer->seconds[k] / own[k]);
  records.ratio(fmt::format("{}: {} / {}", name, peer->name(), own_name),
                spread_of(std::move(ratios)), round_trip);
}

void bench_at(const Options& options, std::int64_t bytes, const std::string& name, const Peak& peak,
              std::vector<Contender>& all, Records& records) {
  CollectiveSweep sweep = sums_of(options, bytes, 1);
  sweep.algorithms = {"auto"};
  for (Contender& one : all) {
    one.seconds.clear();
    one.repeats = std::clamp(static_cast<int>(sweep.round_seconds / one.ask(bytes, 3)), 1, 20000);
  }
  std::vector<double> threads, round_trips;
  for (int round = 0; round < options.repeats; ++round) {
    round_trips.push_back(round_trip_ns());
    threads.push_back(time_thread_sums(sweep)[0].seconds[0]);
    for (std::size_t k = 0; k < all.size(); ++k) {
      Contender& one = all[round % 2 == 0 ? k : all.size() - 1 - k];
      one.seconds.push_back(one.ask(bytes, one.repeats));
    }
  }
  const double round_trip = spread_of(round_trips).median;
  records.time(name + "/tutti, threads", in_ms(threads), sum_traffic(bytes), peak, round_trip);
  for (const Contender& one : all)
    records.time(fmt::format("{}/{}", name, one.name()), in_ms(one.seconds), sum_traffic(bytes),
                 peak, round_trip);
  const std::string title = fmt::format("allreduce {} B", bytes);
  for (const char* transport : {shared_memory, tcp})
    if (const Contender* own = fastest(all, tutti_name, transport))
      for (const char* library : {mpi_name, gloo_name})
        compare(title, fastest(all, library, transport), own->name(), own->seconds, round_trip,
                records);
  compare(title, fastest(all, mpi_name, shared_memory), "tutti, threads", threads, round_trip,
          records);
}

}  // namespace

CollectiveSweep sums_of(const Options& options, std::int64_t bytes, int rounds) {
  return {.least_bytes = bytes,
          .most_bytes = bytes,
          .rounds = rounds,
          .round_seconds = options.round_ms() / 1e3 / 11};
}

std::vector<CollectiveTime> time_thread_sums(const CollectiveSweep& sweep) {
  std::vector<CollectiveTime> all;
  run_ranks(sum_ranks, [&](Communicator& communicator) {
    const std::vector<int>& cores = allowed_cores();
    run_on_core(cores[static_cast<std::size_t>(communicator.rank()) % cores.size()]);
    time_collectives(communicator, collective_kinds().find("allreduce"), sweep,
                     [&](const std::vector<CollectiveTime>& times) {
                       all.insert(all.end(), times.begin(), times.end());
                     });
  });
  return all;
}

void bench_allreduce_peers(const Options& options, const Peak& peak, Records& records) {
  std::map<std::int64_t, std::string> names;  // by bytes
  for (std::int64_t bytes = 4; bytes <= 64 << 20; bytes *= 8)
    if (const std::string name = fmt::format("allreduce/peers {} B/{} ranks", bytes, sum_ranks);
        options.wants(name))
      names[bytes] = name;
  if (names.empty()) return;
  records.note({{"name", "allreduce/peers"},
                {"shared memory", "ours: threads, and processes of mpirun; MPI: processes"},
                {"TCP", "all over the loopback interface; gloo has no shared-memory transport"}});
  std::vector<Contender> all = contenders();
  for (const auto& [bytes, name] : names) bench_at(options, bytes, name, peak, all, records);
}

}  // namespace tutti::bench
