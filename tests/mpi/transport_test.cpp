// SPDX-License-Identifier: Apache-2.0
// The transport itself. The tests named OnRanks run inside mpirun, each in a job of its own that
// the test of the same name in Transport starts.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/mpi/mpi.h"

#include "contract/collective_inputs.h"
#include "expect_error.h"
#include "mpi/mpirun.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace tutti {
namespace {

// Runs OnRanks.NAME of this program.
Launched run_on_ranks(int ranks, const std::string& name) {
  const TemporaryFolder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return on_ranks(
      folder, ranks,
      fmt::format("'{}' --gtest_filter=OnRanks.{} --gtest_also_run_disabled_tests --gtest_color=no",
                  self, "DISABLED_" + name));
}
void expect_passes(int ranks, const std::string& name) {
  const Launched run = run_on_ranks(ranks, name);
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("[  PASSED  ] 1 test"), std::string::npos) << run.out;
}

template <class T>
std::vector<T> run_collective(const Collective& entry, Communicator& comm,
                              const CollectiveArgs& args, std::vector<T> data) {
  const auto operation = entry.make(comm, args);
  for (int round = 0; round < 3; ++round) {
    std::vector<T> copy = data;
    operation->start(copy.data());
    wait(*operation, comm);
    if (round == 2) return copy;
  }
  return {};
}

template <class T>
void require_sums(Communicator& comm, DType dtype, int& tag) {
  List<Collective> entries = allreduces();
  entries.add(collectives::own_allreduce(true));
  for (const Collective& entry : entries) {
    if (!entry.supports(comm.facts())) continue;
    for (const std::int64_t count : {0, 1, 7, 1000, 33333})
      for (const bool fixed : {false, true}) {
        const auto value = fixed ? rough<T> : whole<T>;
        const auto sum = run_collective(entry, comm, {dtype, count, ++tag, fixed, 2},
                                        vector_of<T>(comm.rank(), count, value));
        const auto expected = sum_in_rank_order<T>(comm.size(), count, value);
        if (count > 0 && std::memcmp(sum.data(), expected.data(), count * sizeof(T)) != 0)
          throw Error("allreduce {} of {} {} is wrong", entry.name, count, name_of(dtype));
      }
  }
}

TEST(OnRanks, DISABLED_Sums) {
  run_mpi_rank([](Communicator& comm) {
    if (!allreduces().find("staged").supports(comm.facts()))
      throw Error("processes of one node see no memory in common");
    int tag = 0;
    require_sums<double>(comm, DType::f64, tag);
    require_sums<float>(comm, DType::f32, tag);
    require_sums<Bf16>(comm, DType::bf16, tag);
  });
}
TEST(Transport, SumsAreThoseOfThreads_D02) {
  for (const int ranks : {2, 3, 5}) expect_passes(ranks, "Sums");
}

template <class T>
void require_parts(Communicator& comm, DType dtype, int& tag) {
  for (const std::int64_t count : {0, 1, 7, 1000, 33333}) {
    const Part own = part_of(count, dtype, comm.rank(), comm.size());
    const auto expected = sum_in_rank_order<T>(comm.size(), count, whole<T>);
    for (const Collective& scatter : reduce_scatters())
      for (const Collective& gather : allgathers()) {
        if (!scatter.supports(comm.facts()) || !gather.supports(comm.facts())) continue;
        auto data = run_collective(scatter, comm, {dtype, count, ++tag},
                                   vector_of<T>(comm.rank(), count, whole<T>));
        for (std::int64_t i = 0; i < count; ++i)
          if (i < own.begin || i >= own.end) data[i] = T(-1);
        if (run_collective(gather, comm, {dtype, count, ++tag}, data) != expected)
          throw Error("{} and {} of {} {} are wrong", scatter.name, gather.name, count,
                      name_of(dtype));
      }
  }
}

TEST(OnRanks, DISABLED_Parts) {
  run_mpi_rank([](Communicator& comm) {
    int tag = 0;
    require_parts<float>(comm, DType::f32, tag);
    require_parts<Bf16>(comm, DType::bf16, tag);
  });
}
TEST(Transport, PartsAreThoseOfThreads_D04) { expect_passes(3, "Parts"); }

// Rank 0 sends what is as long as a message with its seal, and is none.
TEST(OnRanks, DISABLED_Seals) {
  run_mpi_rank([](Communicator& comm) {
    if (comm.rank() > 0) comm.check_messages();
    std::vector<float> data(1000, 1.0f);
    Request request =
        comm.rank() == 0 ? comm.send(data.data(), 816, 1, 5) : comm.receive(data.data(), 800, 0, 5);
    try {
      wait(request, comm);
    } catch (const Error& error) {
      if (std::string(error.what()).find("from rank 0 to rank 1") != std::string::npos) return;
    }
    if (comm.rank() == 1) throw Error("the message was taken for a right one");
  });
}
TEST(Transport, FindsMessagesThatAreNotWhatWasSent) { expect_passes(2, "Seals"); }

TEST(OnRanks, DISABLED_InFlight) {
  run_mpi_rank([](Communicator& comm) {
    constexpr int in_flight = 8;
    std::vector<std::unique_ptr<Operation>> operations;
    for (int k = 0; k < in_flight; ++k)
      operations.push_back(
          allreduces().find("ring").make(comm, {DType::f64, 1000 * k + 1, k, false}));
    for (int round = 0; round < 20; ++round) {
      std::vector<std::vector<double>> data(in_flight);
      for (int k = 0; k < in_flight; ++k) data[k].assign(1000 * k + 1, 1 + comm.rank() + k + round);
      for (int n = 0; n < in_flight; ++n) {
        const int k = (n * 3 + comm.rank() * 5 + round) % in_flight;
        operations[k]->start(data[k].data());
      }
      for (int n = 0; n < in_flight; ++n)
        wait(*operations[(n * 5 + comm.rank()) % in_flight], comm);
      for (int k = 0; k < in_flight; ++k)
        if (data[k] != std::vector<double>(1000 * k + 1, 6 + 3 * (k + round)))
          throw Error("sum {} is wrong in round {}", k, round);
    }
  });
}
TEST(Transport, EightInFlightStartedInDifferentOrders_D07) { expect_passes(3, "InFlight"); }

// Nobody calls anything until the sums are there.
TEST(OnRanks, DISABLED_Progress) {
  run_mpi_rank([](Communicator& comm) {
    std::vector<float> data(1 << 20, 1);
    const auto operation = allreduces().find("ring").make(comm, {DType::f32, 1 << 20, 0, false});
    operation->start(data.data());
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    const auto summed = [&] {
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return std::count(data.begin(), data.end(), 3.0f) == 1 << 20;
    };
    while (!summed()) {
      if (std::chrono::steady_clock::now() > until) throw Error("nothing moves by itself");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    wait(*operation, comm);
  });
}
TEST(Transport, MessagesMoveWhileTheirRankIsElsewhere) { expect_passes(3, "Progress"); }

TEST(OnRanks, DISABLED_Messages) {
  run_mpi_rank([](Communicator& comm) {
    expect_error([&] { comm.send(nullptr, 0, comm.rank(), 0); }, {"can't send to itself"});
    expect_error([&] { comm.send(nullptr, 0, 7, 0); }, {"the job has ranks 0 to 1"});
    constexpr int messages = 50;
    std::vector<int> values(messages);
    std::vector<Request> requests;
    const int peer = 1 - comm.rank();
    for (const int tag : {3, (1 << 30) + 1}) {
      requests.clear();
      for (int n = 0; n < messages; ++n) {
        if (comm.rank() == 0) values[n] = 7 * n;
        requests.push_back(comm.rank() == 0 ? comm.send(&values[n], sizeof(int), peer, tag)
                                            : comm.receive(&values[n], sizeof(int), peer, tag));
      }
      for (Request& request : requests) wait(request, comm);
      for (int n = 0; n < messages; ++n)
        if (values[n] != 7 * n) throw Error("message {} came out of order", n);
      comm.barrier();
    }
    if (comm.network().node_ranks != 2) throw Error("both ranks are on this node");
  });
}
TEST(Transport, MessagesKeepTheirOrder) { expect_passes(2, "Messages"); }

// In the rows and columns of a mesh, and then from whoever has sent.
TEST(OnRanks, DISABLED_Groups) {
  run_mpi_rank([](Communicator& comm) {
    const Mesh mesh({{"stage", 2}, {"data", 2}});
    for (const char* axis : {"data", "stage"}) {
      const Group group = group_along(comm, mesh, {axis});
      for (const Collective& entry : allreduces()) {
        if (!entry.supports(group.facts())) continue;
        std::vector<float> data(5000, static_cast<float>(1 << comm.rank()));
        const auto operation =
            entry.make(group, {.count = 5000, .tag = comm.tags().of({axis, entry.name})});
        operation->start(data.data());
        wait(*operation, comm);
        float sum = 0;
        for (const int member : mesh.members(comm.rank(), {axis}))
          sum += static_cast<float>(1 << member);
        EXPECT_EQ(data, std::vector<float>(5000, sum)) << entry.name;
      }
    }
    const int tag = comm.tags().of({.what = "from anyone"});
    std::vector<int> numbers(static_cast<std::size_t>(comm.rank()), comm.rank());
    if (comm.rank() > 0) {
      Request sent = comm.send(numbers.data(), 4 * comm.rank(), 0, tag);
      return wait(sent, comm);
    }
    for (int k = 1; k < comm.size(); ++k) {
      std::optional<Waiting> found;
      wait_until([&] { return (found = comm.probe(tag)).has_value(); }, comm, "a number");
      EXPECT_EQ(found->bytes, 4 * found->from);
      numbers.assign(static_cast<std::size_t>(found->from), 0);
      Request received = comm.receive(numbers.data(), found->bytes, found->from, tag);
      wait(received, comm);
      EXPECT_EQ(numbers, std::vector<int>(numbers.size(), found->from));
    }
  });
}
TEST(Transport, GroupsAndAnySender) { expect_passes(4, "Groups"); }

TEST(OnRanks, DISABLED_Sizes) {
  run_mpi_rank([](Communicator& comm) {
    std::vector<float> data(20, 1);
    const auto operation =
        allreduces().find("butterfly").make(comm, {DType::f32, comm.rank() == 0 ? 20 : 10, 7});
    operation->start(data.data());
    wait(*operation, comm);
  });
}
TEST(Transport, DifferentSizesAreAnErrorThatNamesThem) {
  const Launched run = run_on_ranks(2, "Sizes");
  EXPECT_NE(run.code, 0);
  for (const char* part : {"rank 0", "rank 1", "tag 7", "bytes"})
    EXPECT_NE((run.out + run.err).find(part), std::string::npos) << run.out << run.err;
}

}  // namespace
}  // namespace tutti
