// SPDX-License-Identifier: Apache-2.0
// Collectives of some of the ranks, on every transport of one process.
#include "tutti/comm/group.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/sim/sim.h"
#include "tutti/comm/threads/threads.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

using Body = std::function<void(Communicator&)>;
using Transported = void (*)(int ranks, const Body&);
const std::vector<Transported> transports = {
    [](int ranks, const Body& body) { run_ranks(ranks, body); },
    [](int ranks, const Body& body) { sim::run_simulated_ranks(ranks, {}, body); }};

TEST(Group, OfAllRanksIsEveryone) {
  run_ranks(3, [](Communicator& comm) {
    const Group all(comm), listed(comm, {0, 1, 2});
    EXPECT_TRUE(all.is_everyone() && listed.is_everyone());
    EXPECT_EQ(listed.rank(), comm.rank());
    EXPECT_EQ(listed.size(), 3);
  });
}

// Nodes of 4 ranks: along "data" members share a node in pairs, along "stage" none do.
TEST(Group, KnowsWhichOfItsMembersShareANode) {
  TransportFacts facts{.rank = 9, .size = 16};
  facts.network.node_ranks = 4;
  facts.own_allreduce = true;
  EXPECT_EQ(facts_of(facts, {8, 9, 10, 11}).network.node_ranks, 4);
  EXPECT_EQ(facts_of(facts, {1, 5, 9, 13}).network.node_ranks, 1);
  EXPECT_EQ(facts_of(facts, {4, 5, 8, 9}).network.node_ranks, 2);
  EXPECT_EQ(facts_of(facts, {4, 8, 9}).network.node_ranks, 1);
  EXPECT_EQ(facts_of(facts, {4, 5, 8, 9}).rank, 3);
  EXPECT_FALSE(facts_of(facts, {4, 5, 8, 9}).own_allreduce);
}

// Every allreduce, in the rows and columns of a mesh at once and with equal tags.
TEST(Group, CollectivesOfDisjointGroupsDoNotMeet) {
  const Mesh mesh({{"stage", 2}, {"data", 3}});
  for (const Transported run : transports)
    for (const Collective& algorithm : allreduces())
      run(6, [&](Communicator& comm) {
        for (const char* axis : {"data", "stage"}) {
          const Group group = group_along(comm, mesh, {axis});
          if (!algorithm.supports(group.facts())) continue;
          for (const std::int64_t count : {0, 1, 7, 5000}) {
            const CollectiveArgs args{.count = count,
                                      .tag = comm.tags().of({axis, algorithm.name})};
            const auto operation = algorithm.make(group, args);
            std::vector<float> data(static_cast<std::size_t>(count),
                                    static_cast<float>(1 << comm.rank()));
            operation->start(data.data());
            wait(*operation, comm);
            float sum = 0;
            for (int k = 0; k < group.size(); ++k) sum += static_cast<float>(1 << group.member(k));
            EXPECT_EQ(data, std::vector<float>(data.size(), sum)) << algorithm.name << axis;
          }
        }
      });
}

void larger(void* into, const void* from, std::int64_t count) {
  auto* a = static_cast<std::int32_t*>(into);
  const auto* b = static_cast<const std::int32_t*>(from);
  for (std::int64_t i = 0; i < count; ++i) a[i] = std::max(a[i], b[i]);
}

// Elements are combined by any function, here the larger of two integers.
TEST(Group, CollectivesCombineByAGivenFunction) {
  constexpr std::int64_t count = 301;
  for (const Transported run : transports)
    for (const bool scatter : {false, true})
      for (const Collective& algorithm : scatter ? reduce_scatters() : allreduces())
        run(4, [&](Communicator& comm) {
          if (!algorithm.supports(comm.facts())) return;
          const CollectiveArgs args{.dtype = DType::i32,
                                    .count = count,
                                    .tag = comm.tags().of({.what = algorithm.name}),
                                    .combine = larger};
          std::vector<std::int32_t> data(count);
          for (std::int64_t i = 0; i < count; ++i)
            data[static_cast<std::size_t>(i)] =
                static_cast<std::int32_t>((i + 1) * (comm.rank() == i % 4 ? 10 : 1));
          const auto operation = algorithm.make(comm, args);
          operation->start(data.data());
          wait(*operation, comm);
          const Part own = scatter ? part_of(count, DType::i32, comm.rank(), 4) : Part{0, count};
          for (std::int64_t i = own.begin; i < own.end; ++i)
            EXPECT_EQ(data[static_cast<std::size_t>(i)], 10 * (i + 1)) << algorithm.name << i;
        });
}

// Three ranks send texts of lengths that rank 0 does not know; it hears each sender once.
TEST(Probe, FindsMessagesOfAnySenderAndLength) {
  for (const Transported run : transports)
    run(4, [](Communicator& comm) {
      const int tag = comm.tags().of({.what = "texts"});
      std::string text(static_cast<std::size_t>(7 * comm.rank()),
                       static_cast<char>('a' + comm.rank()));
      if (comm.rank() > 0) {
        Request sent = comm.send(text.data(), static_cast<std::int64_t>(text.size()), 0, tag);
        wait(sent, comm);
        return;
      }
      std::set<int> senders;
      while (senders.size() < 3) {
        std::optional<Waiting> found;
        wait_until([&] { return (found = comm.probe(tag)).has_value(); }, comm, "a text");
        EXPECT_TRUE(senders.insert(found->from).second);
        EXPECT_EQ(found->bytes, 7 * found->from);
        text.assign(static_cast<std::size_t>(found->bytes), ' ');
        Request received = comm.receive(text.data(), found->bytes, found->from, tag);
        wait(received, comm);
        EXPECT_EQ(text, std::string(text.size(), static_cast<char>('a' + found->from)));
      }
      EXPECT_FALSE(comm.probe(tag));
    });
}

}  // namespace
}  // namespace tutti
