// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/program.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/graph/op.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/add.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/barrier.h"
#include "tutti/ops/broadcast.h"
#include "tutti/ops/multiply.h"
#include "tutti/ops/reduce_scatter.h"
#include "tutti/ops/relu.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/send_recv.h"
#include "tutti/ops/update.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/memory.h"

#include "exec/training.h"
#include "expect_error.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

constexpr std::int64_t count = 16;
const Type vector_type{DType::f32, {count}};

// Memory for the bases that small graphs use.
struct Memory {
  std::vector<float> weights = std::vector<float>(count), input = std::vector<float>(count),
                     result = std::vector<float>(count), arena = std::vector<float>(4096);

  Bases bases() {
    Bases all;
    all[Base::weights] = bytes(weights);
    all[Base::inputs] = bytes(input);
    all[Base::results] = bytes(result);
    all[Base::arena] = bytes(arena);
    return all;
  }
  static std::byte* bytes(std::vector<float>& data) {
    return reinterpret_cast<std::byte*>(data.data());
  }
};

// What messages of a graph need.
struct Ranks {
  Communicator* communicator = nullptr;
  MessageOptions messages = {};
  Mesh mesh = {};
};

class Programs : public testing::Test {
 protected:
  Program compile(Graph graph, const Ranks& ranks = {}) {
    MemoryPlan memory = plan_memory(graph, backend_);
    const TransportFacts facts =
        ranks.communicator == nullptr ? TransportFacts{} : ranks.communicator->facts();
    return Program(
        compiled(std::move(graph), std::move(memory), kernels_, ranks.messages, ranks.mesh, facts),
        kernels_, {.threads = 1, .rules = &rules_}, ranks.communicator);
  }
  // results = weights · x, with a name for messages.
  static Graph product() {
    Graph graph;
    const ValueId w = graph.add_value("w", vector_type, {Base::weights, 0});
    const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
    graph.scope = "scaling";
    const ValueId y = graph.add1(ops::multiply, {w, x});
    graph.scope = "output";
    const ValueId z = graph.add1(ops::scale, {y}, {{"factor", 2.0}});
    graph.value(z).place = {Base::results, 0};
    return graph;
  }

  const KernelTable kernels_ = cpu_kernels();
  const Backend backend_ = backend_of(kernels_);
  const List<Rule> rules_ = rules();
};

TEST_F(Programs, BasePointersMayChangeBetweenRuns) {
  Program program = compile(product());
  Memory memory;
  std::vector<float> other_weights(count, 5);
  std::fill(memory.weights.begin(), memory.weights.end(), 3.0f);
  std::fill(memory.input.begin(), memory.input.end(), 7.0f);
  Bases bases = memory.bases();
  program.run(bases, {});
  EXPECT_EQ(memory.result, std::vector<float>(count, 42));
  bases[Base::weights] = Memory::bytes(other_weights);
  program.run(bases, {});
  EXPECT_EQ(memory.result, std::vector<float>(count, 70));
  program.run(memory.bases(), {});
  EXPECT_EQ(memory.result, std::vector<float>(count, 42));
}

TEST_F(Programs, AProgramWithoutUpdatesHasNoFirstUpdate) {
  const Program program = compile(product());
  EXPECT_EQ(program.size(), 2);
  EXPECT_EQ(program.first_update(), program.size());
}

TEST(TrainingPrograms, ParametersStayUntilTheFirstUpdate) {
  test::Training training(
      {.model = "mlp", .settings = {{"hidden", Shape{8}}}, .sample = {1, 4, 4}, .batch = 4});
  Program& program = training.program();
  ASSERT_GT(program.first_update(), 0);
  ASSERT_LT(program.first_update(), program.size());
  for (int i = 0; i < program.size(); ++i) {
    const bool updates = program.graph().nodes[static_cast<std::size_t>(i)].op == &ops::update;
    EXPECT_EQ(updates && i < program.first_update(), false) << program.compiled().name_of_node(i);
  }
  const std::vector<float> before = training.parameters();
  training.step();
  EXPECT_NE(training.parameters(), before);
}

TEST_F(Programs, StepsHaveTheNameOfOperatorAndLayer) {
  const Program program = compile(product());
  EXPECT_EQ(program.compiled().name_of_node(0), "multiply of scaling");
  EXPECT_EQ(program.implementation(0), "simd");
}

TEST_F(Programs, AProfileHasTheSecondsOfEveryStep) {
  Program program = compile(product());
  Memory memory;
  Profile profile;
  program.run(memory.bases(), {}, &profile);
  program.run(memory.bases(), {}, &profile);
  EXPECT_EQ(profile.runs, 2);
  ASSERT_EQ(profile.seconds.size(), 2u);
  for (const double seconds : profile.seconds) EXPECT_GT(seconds, 0);
}

TEST_F(Programs, TheFirstStepThatIsNotFiniteIsNamed) {
  Program program = compile(product());
  Memory memory;
  EXPECT_EQ(program.first_not_finite(memory.bases(), {}, 0, program.size()), "");
  memory.weights[3] = std::numeric_limits<float>::max();
  memory.input[3] = 1;
  EXPECT_EQ(program.first_not_finite(memory.bases(), {}, 0, program.size()), "scale of output");
  memory.input[3] = 2;
  EXPECT_EQ(program.first_not_finite(memory.bases(), {}, 0, program.size()), "multiply of scaling");
}

TEST_F(Programs, AGraphWithMessagesNeedsACommunicator) {
  Graph graph;
  const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
  graph.value(graph.add1(ops::allreduce, {x}, {{"axes", "data"}})).place = {Base::results, 0};
  EXPECT_THROW(compile(graph), std::logic_error);
}

TEST_F(Programs, AnAllreduceAddsOverRanksAndKeepsItsInput) {
  for (const bool overlap : {true, false})
    for (const char* algorithm : {"auto", "ring", "direct"})
      run_ranks(2, [&](Communicator& communicator) {
        Graph graph;
        const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
        const ValueId y = graph.add1(ops::relu, {x});
        const ValueId sum = graph.add1(ops::allreduce, {y}, {{"axes", "data"}});
        const ValueId both = graph.add1(ops::add, {sum, y});  // the sum is waited for, y is whole
        graph.value(both).place = {Base::results, 0};
        Program program = compile(graph, {.communicator = &communicator,
                                          .messages = {.allreduce = algorithm, .overlap = overlap},
                                          .mesh = data_mesh(communicator.size())});
        Memory memory;
        for (int round = 1; round <= 3; ++round) {
          const auto own = static_cast<float>(round * (communicator.rank() + 1));
          std::fill(memory.input.begin(), memory.input.end(), own);
          program.run(memory.bases(), {});
          EXPECT_EQ(memory.result, std::vector<float>(count, static_cast<float>(round * 3) + own));
        }
      });
}

// Each rank doubles its part of the sum; all get both parts.
TEST_F(Programs, PartsAreReducedUsedAndGathered) {
  for (const bool overlap : {true, false})
    for (const char* algorithm : {"auto", "ring", "direct"})
      run_ranks(2, [&](Communicator& communicator) {
        constexpr std::int64_t blocks = 2, all = blocks * count, half = all / 2;
        const Type block{DType::f32, {all}};
        const std::int64_t first = communicator.rank() * half;
        Graph graph;
        const ValueId x = graph.add_value("x", block, {Base::inputs, 0});
        const ValueId y = graph.add1(ops::relu, {x});
        graph.value(y).place = {Base::gradients, 0};
        const ValueId part =
            graph.add1(ops::reduce_scatter, {y},
                       {{"axes", "data"}, {"part_offset", first}, {"part_count", half}});
        graph.value(part).place = {Base::gradients, first * 4};
        const ValueId twice = graph.add1(ops::scale, {part}, {{"factor", 2.0}});
        graph.value(twice).place = {Base::weights, first * 4};
        const ValueId result = graph.add1(
            ops::allgather, {twice}, {{"axes", "data"}, {"part_offset", first}, {"count", all}});
        graph.value(result).place = {Base::weights, 0};
        Program program = compile(
            graph,
            {.communicator = &communicator,
             .messages = {.reduce_scatter = algorithm, .allgather = algorithm, .overlap = overlap},
             .mesh = data_mesh(communicator.size())});
        std::vector<float> input(all), gradient(all), weights(all), arena(4096);
        Bases bases;
        bases[Base::inputs] = Memory::bytes(input);
        bases[Base::gradients] = Memory::bytes(gradient);
        bases[Base::weights] = Memory::bytes(weights);
        bases[Base::arena] = Memory::bytes(arena);
        for (int round = 1; round <= 3; ++round) {
          std::fill(input.begin(), input.end(),
                    static_cast<float>(round * (communicator.rank() + 1)));
          program.run(bases, {});
          EXPECT_EQ(weights, std::vector<float>(all, static_cast<float>(6 * round)));
        }
      });
}

TEST_F(Programs, AnUnknownAllreduceIsAnError) {
  expect_error(
      [&] {
        run_ranks(1, [&](Communicator& communicator) {
          Graph graph;
          const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
          graph.value(graph.add1(ops::allreduce, {x}, {{"axes", "data"}})).place = {Base::results,
                                                                                    0};
          compile(graph, {.communicator = &communicator,
                          .messages = {.allreduce = "rings"},
                          .mesh = data_mesh(communicator.size())});
        });
      },
      {"unknown allreduce 'rings'", "ring"});
}

// On a mesh of 2 × 2 ranks, sums along one axis, the other, both, and none.
TEST_F(Programs, MessagesStayInTheGroupOfTheirAxes) {
  for (const bool overlap : {true, false})
    run_ranks(4, [&](Communicator& communicator) {
      const Mesh mesh({{"stage", 2}, {"data", 2}});
      const int rank = communicator.rank();
      for (const char* axes : {"data", "stage", "stage data", "depth"}) {
        Graph graph;
        const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
        const ValueId sum = graph.add1(ops::allreduce, {x}, {{"axes", axes}});
        graph.value(sum).place = {Base::results, 0};
        Program program = compile(
            graph, {.communicator = &communicator, .messages = {.overlap = overlap}, .mesh = mesh});
        int expected = 0;
        for (const int member : mesh.members(rank, axes_in(axes))) expected += 1 << member;
        Memory memory;
        for (int round = 1; round <= 3; ++round) {
          std::fill(memory.input.begin(), memory.input.end(), static_cast<float>(round << rank));
          program.run(memory.bases(), {});
          EXPECT_EQ(memory.result, std::vector<float>(count, static_cast<float>(round * expected)));
        }
      }
    });
}

// All get what the first has; nobody goes on before all have come.
TEST_F(Programs, ABroadcastAndABarrierAreMessagesOfTheGraph) {
  std::atomic<int> come{0};
  run_ranks(3, [&](Communicator& communicator) {
    Graph graph;
    const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
    const ValueId y = graph.add1(ops::broadcast, {x}, {{"axes", "data"}});
    graph.value(y).place = {Base::results, 0};
    graph.results.push_back(y);
    graph.add(ops::barrier, {}, {{"axes", "data"}});
    Program program = compile(graph, {.communicator = &communicator, .mesh = data_mesh(3)});
    Memory memory;
    for (int round = 1; round <= 3; ++round) {
      std::fill(memory.input.begin(), memory.input.end(),
                static_cast<float>(10 * round + communicator.rank()));
      ++come;
      program.run(memory.bases(), {});
      EXPECT_GE(come.load(), 3 * round);
      EXPECT_EQ(memory.result, std::vector<float>(count, static_cast<float>(10 * round)));
    }
  });
}

// Rank 0 doubles and sends, rank 1 adds one's own and sends back: a pipeline of two stages.
TEST_F(Programs, SendAndReceiveCarryValuesBetweenRanks) {
  run_ranks(2, [&](Communicator& communicator) {
    const int rank = communicator.rank(), peer = 1 - rank;
    const auto receive = [&](Graph& graph, const char* name) {
      return graph.add1(
          ops::recv, {},
          {{"shape", Shape{count}}, {"from", peer}, {"message", name}, {"axes", "stage"}});
    };
    const auto send = [&](Graph& graph, ValueId x, const char* name) {
      graph.add(ops::send, {x}, {{"to", peer}, {"message", name}, {"axes", "stage"}});
    };
    Graph graph;
    const ValueId x = graph.add_value("x", vector_type, {Base::inputs, 0});
    ValueId last = no_value;
    if (rank == 0) {
      send(graph, graph.add1(ops::scale, {x}, {{"factor", 2.0}}), "there");
      last = graph.add1(ops::scale, {receive(graph, "back")}, {{"factor", 1.0}});
    } else {
      last = graph.add1(ops::add, {receive(graph, "there"), x});
      send(graph, last, "back");
      last = graph.add1(ops::scale, {last}, {{"factor", 1.0}});
    }
    graph.value(last).place = {Base::results, 0};
    Program program = compile(graph, {.communicator = &communicator, .mesh = Mesh({{"stage", 2}})});
    Memory memory;
    for (int round = 1; round <= 3; ++round) {
      std::fill(memory.input.begin(), memory.input.end(), static_cast<float>(round + 10 * rank));
      program.run(memory.bases(), {});
      EXPECT_EQ(memory.result, std::vector<float>(count, static_cast<float>(3 * round + 10)));
    }
  });
}

}  // namespace
}  // namespace tutti
