// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/simulate.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/kernels/backends.h"
#include "tutti/ops/add.h"
#include "tutti/ops/allreduce.h"
#include "tutti/ops/scale.h"
#include "tutti/ops/send_recv.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/memory.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

constexpr std::int64_t count = 1 << 18;                         // 1 MiB
constexpr double alpha = 1e-5, beta = 1e-9, bytes = 4 * count;  // of a butterfly of 2 ranks:
constexpr double sum_seconds = alpha + bytes * beta;

// sum = Σ 2x over ranks while 3x is computed; then their sum.
class Simulate : public testing::Test {
 protected:
  Simulate() {
    const ValueId x = graph_.add_value("x", {DType::f32, {count}}, {Base::inputs, 0});
    const ValueId doubled = graph_.add1(ops::scale, {x}, {{"factor", 2.0}});
    const ValueId sum = graph_.add1(ops::allreduce, {doubled}, {{"axes", "data"}});
    const ValueId tripled = graph_.add1(ops::scale, {x}, {{"factor", 3.0}});
    const ValueId result = graph_.add1(ops::add, {sum, tripled});
    graph_.value(result).place = {Base::results, 0};
  }

  StepSimulation simulate(const MessageOptions& messages, const std::vector<double>& seconds,
                          const SimulateOptions& options = {}) {
    Graph graph = graph_;
    MemoryPlan memory = plan_memory(graph, backend_);
    return simulate_step(
        compiled(std::move(graph), std::move(memory), kernels_, messages, data_mesh(2), facts_),
        seconds, options);
  }
  static MessageOptions butterfly() { return {.allreduce = "butterfly"}; }

  TransportFacts facts_{.size = 2, .network = LinkCost{alpha, beta}};
  const KernelTable kernels_ = cpu_kernels();
  const Backend backend_ = backend_of(kernels_);
  const List<Rule> rules_ = rules();
  Graph graph_;
};

TEST_F(Simulate, AMessageHidesBehindWhatDoesNotNeedIt) {
  const StepSimulation hidden = simulate(butterfly(), {1, 0, 2, 4});
  EXPECT_DOUBLE_EQ(hidden.step_seconds, 7);
  EXPECT_EQ(hidden.exposed_seconds, 0);
  const StepSimulation half = simulate(butterfly(), {1, 0, sum_seconds / 2, 4});
  EXPECT_NEAR(half.step_seconds, 5 + sum_seconds, 1e-12);
  EXPECT_NEAR(half.exposed_seconds, sum_seconds / 2, 1e-12);
  EXPECT_NEAR(half.compute_seconds, 5 + sum_seconds / 2, 1e-12);
  EXPECT_DOUBLE_EQ(half.bytes_sent, bytes);
  EXPECT_EQ(half.messages, 2);
}

TEST_F(Simulate, WithoutOverlapItIsWaitedForAtOnce) {
  MessageOptions messages = butterfly();
  messages.overlap = false;
  EXPECT_NEAR(simulate(messages, {1, 0, 2, 4}).step_seconds, 7 + sum_seconds, 1e-12);
}

// C03: L layers whose gradients take a second each to compute and a second to exchange are done in
// L + 1 seconds; when each exchange is waited for, in 2 L.
TEST_F(Simulate, C03TheExchangeOfALayerHidesBehindTheNext) {
  constexpr int layers = 7;
  graph_ = {};
  ValueId error = graph_.add_value("dy", {DType::f32, {count}}, {Base::inputs, 0});
  std::vector<double> seconds;
  for (int layer = 0; layer < layers; ++layer) {
    error = graph_.add1(ops::scale, {error}, {{"factor", 2.0}});
    const ValueId sum = graph_.add1(ops::allreduce, {error}, {{"axes", "data"}});
    graph_.outputs.push_back(sum);
    seconds.insert(seconds.end(), {1, 0});
  }
  facts_.network = LinkCost{0, 1 / bytes};  // a second for each message
  MessageOptions messages = butterfly();
  EXPECT_NEAR(simulate(messages, seconds).step_seconds, layers + 1, 1e-9);
  messages.overlap = false;
  EXPECT_NEAR(simulate(messages, seconds).step_seconds, 2 * layers, 1e-9);
}

TEST_F(Simulate, StepsFollowEachOther) {
  const StepSimulation steps =
      simulate(butterfly(), {1, 0, 2, 4}, {.law = {.slow = {{1, 2.0}}}, .steps = 3});
  // The slow rank never waits; the other has done 7 of 14 seconds when it is over.
  EXPECT_NEAR(steps.step_seconds, 14, 1e-12);
  EXPECT_DOUBLE_EQ(steps.compute_seconds, 10.5);
  EXPECT_DOUBLE_EQ(steps.longest_compute_seconds, 14);
}

TEST_F(Simulate, RanksThatShareMemorySumInTheirOwnTime) {
  facts_ = thread_facts(0, 2);
  const double own = 2 * 1e-6 + 2 * bytes / 2 * 1e-10;  // see thread_facts()
  EXPECT_NEAR(simulate({}, {1, 0, 2, 4}).step_seconds, 7 + own, 1e-12);
}

TEST_F(Simulate, TracesNameNodesAndAlgorithms) {
  TraceEvents trace;
  simulate(butterfly(), {1, 0, 2, 4}, {.trace = &trace, .traced_ranks = 1});
  ASSERT_EQ(trace.size(), 4u);
  EXPECT_EQ(trace[0].name, "scale");
  EXPECT_EQ(trace[1].seconds, 2);
  EXPECT_EQ(trace[2].name, "allreduce");
  EXPECT_EQ(trace[2].detail, "butterfly");
  EXPECT_EQ(trace[2].stream, TraceEvent::messages);
  EXPECT_EQ(trace[2].bytes, bytes);
  EXPECT_NEAR(trace[2].seconds, sum_seconds, 1e-12);
}

// A pipeline of two stages, each a role: one computes and sends, the other receives and computes.
TEST_F(Simulate, RolesSendToEachOther) {
  const Type type{DType::f32, {count}};
  const Settings to{{"axes", "stage"}, {"to", std::int64_t{1}}, {"message", "y"}};
  const Settings from{
      {"axes", "stage"}, {"from", std::int64_t{0}}, {"message", "y"}, {"shape", Shape{count}}};
  Graph first, second;
  const ValueId x = first.add_value("x", type, {Base::inputs, 0});
  first.add(ops::send, {first.add1(ops::scale, {x}, {{"factor", 2.0}})}, to);
  const ValueId z = second.add1(ops::scale, {second.add1(ops::recv, {}, from)}, {{"factor", 2.0}});
  second.value(z).place = {Base::results, 0};
  const auto step_of = [&](Graph graph, int rank) {
    MemoryPlan memory = plan_memory(graph, backend_);
    TransportFacts facts = facts_;
    facts.rank = rank;
    return compiled(std::move(graph), std::move(memory), kernels_, {}, Mesh({{"stage", 2}}), facts);
  };
  const CompiledStep sends = step_of(first, 0), receives = step_of(second, 1);
  const StepSimulation simulated =
      simulate_steps({{{{&sends, {3, 0}}}}, {{{&receives, {0, 4}}}}}, {0, 1}, {.steps = 2});
  // The second stage begins behind the first, which then waits with its second message until the
  // other asks for it.
  EXPECT_NEAR(2 * simulated.step_seconds, 3 + 2 * (sum_seconds + 4), 1e-12);
  EXPECT_EQ(simulated.messages, 2);
}

}  // namespace
}  // namespace tutti
