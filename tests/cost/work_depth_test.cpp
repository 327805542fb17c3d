// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/work_depth.h"

#include "tutti/core/rng.h"
#include "tutti/graph/op.h"
#include "tutti/nn/net.h"
#include "tutti/ops/operators.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tutti {
namespace {

// A graph of unit operations: dag[i] are the vertices that i waits for, all before i.
using Dag = std::vector<std::vector<int>>;

Dag random_dag(std::uint64_t seed) {
  std::uint64_t counter = 0;
  const auto below = [&](std::uint64_t n) { return static_cast<int>(draw(seed, counter++) % n); };
  Dag dag(static_cast<std::size_t>(1 + below(60)));
  const int most = below(4);
  for (std::size_t i = 1; i < dag.size(); ++i)
    for (int k = 0; k < most; ++k) dag[i].push_back(below(i));
  return dag;
}

double longest_path(const Dag& dag) {
  std::vector<double> depth(dag.size(), 1);
  for (std::size_t i = 0; i < dag.size(); ++i)
    for (const int before : dag[i])
      depth[i] = std::max(depth[i], 1 + depth[static_cast<std::size_t>(before)]);
  return *std::max_element(depth.begin(), depth.end());
}

// Steps of a schedule that starts whatever it can, in any order, on p processors.
int greedy_steps(const Dag& dag, int p) {
  std::vector<int> done(dag.size(), 0);  // the step after which a vertex is done; 0: not yet
  std::size_t left = dag.size();
  int step = 0;
  while (left > 0) {
    ++step;
    int free = p;
    for (std::size_t i = 0; i < dag.size() && free > 0; ++i) {
      const bool ready = std::all_of(dag[i].begin(), dag[i].end(), [&](int before) {
        const int end = done[static_cast<std::size_t>(before)];
        return end > 0 && end < step;
      });
      if (done[i] > 0 || !ready) continue;
      done[i] = step;
      --free;
      --left;
    }
  }
  return step;
}

TEST(WorkDepth, K01GreedySchedulesKeepBothBounds) {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Dag dag = random_dag(seed);
    const Cost cost{.work = static_cast<double>(dag.size()), .depth = longest_path(dag)};
    for (int p = 1; p <= 8; ++p) {
      const int steps = greedy_steps(dag, p);
      const ScheduleBounds bounds = schedule_bounds(cost, p);
      ASSERT_LE(bounds.least, steps) << "seed " << seed << ", p " << p;
      ASSERT_LE(steps, bounds.most) << "seed " << seed << ", p " << p;
    }
    ASSERT_EQ(greedy_steps(dag, 1), static_cast<int>(cost.work)) << "T_1 = W";
    ASSERT_EQ(greedy_steps(dag, 1000), static_cast<int>(cost.depth)) << "T_inf = D";
  }
}

// The survey prints min on the left, which says nothing of a chain.
TEST(WorkDepth, Erratum4AChainTakesItsDepth) {
  EXPECT_EQ(schedule_bounds({.work = 100, .depth = 100}, 1024).least, 100);
}

TEST(WorkDepth, K01EveryOperatorReportsWorkAndDepth) {
  for (const ops::OpEntry& entry : ops::operators()) EXPECT_NE(entry.op->cost, nullptr);
}

// --- K02: operators expanded into single operations ---

// Sums of products: a term is a product, which counts as one operation together with the addition
// that takes it up; what is left is the depth of the additions, a tree over each index in turn.
class Expansion {
 public:
  // Adds the term of `output` that the values of its reduced indices name.
  void add(std::int64_t output, std::vector<std::int64_t> reduced) {
    ++work_;
    terms_[output].push_back(std::move(reduced));
  }
  double work() const { return work_; }
  double depth() const {
    int deepest = 0;
    for (const auto& [output, terms] : terms_) deepest = std::max(deepest, depth_of(terms));
    return deepest;
  }

 private:
  using Terms = std::vector<std::vector<std::int64_t>>;

  // Pairs until one is left.
  static int tree_depth(std::size_t leaves) {
    int levels = 0;
    for (; leaves > 1; leaves = (leaves + 1) / 2) ++levels;
    return levels;
  }
  // Terms that agree in all but the last index are summed first.
  static int depth_of(const Terms& terms) {
    if (terms[0].empty()) return 0;
    std::map<std::vector<std::int64_t>, std::size_t> sums;
    for (const auto& indices : terms) ++sums[{indices.begin(), indices.end() - 1}];
    std::size_t most = 0;
    Terms rest;
    for (const auto& [indices, count] : sums) most = std::max(most, count), rest.push_back(indices);
    return tree_depth(most) + depth_of(rest);
  }

  double work_ = 0;
  std::map<std::int64_t, Terms> terms_;
};

Cost cost_of(const char* op, const Settings& settings, const std::vector<Shape>& in) {
  const auto list = ops::operators();
  const Op& found = *list.find(op).op;
  Graph graph;
  std::vector<ValueId> ids;
  for (const Shape& shape : in) ids.push_back(graph.add_value("", {DType::f32, shape}));
  graph.add(found, ids, settings);
  return cost_of_node(graph, graph.nodes[0]);
}

void expect_same(const Cost& cost, const Expansion& expansion) {
  EXPECT_EQ(cost.work, expansion.work());
  EXPECT_EQ(cost.depth, expansion.depth());
}

TEST(WorkDepth, K02FullyConnectedExpanded) {
  constexpr std::int64_t N = 5, I = 12, O = 9;
  Expansion y, dw, dx;
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t o = 0; o < O; ++o)
      for (std::int64_t i = 0; i < I; ++i) {
        y.add(n * O + o, {i});
        dw.add(o * I + i, {n});
        dx.add(n * I + i, {o});
      }
  expect_same(cost_of("matmul", {{"transpose_b", true}}, {{N, I}, {O, I}}), y);
  expect_same(cost_of("matmul", {{"transpose_a", true}}, {{N, O}, {N, I}}), dw);
  expect_same(cost_of("matmul", {}, {{N, O}, {O, I}}), dx);
}

// Erratum 5: ∇w sums over n, h', w' and ∇x over o, ky, kx; the survey gives both the depth of y.
TEST(WorkDepth, K02ConvolutionExpandedErratum5) {
  constexpr std::int64_t N = 3, C = 5, O = 9, H = 7, W = 8, K = 3, L = 2;
  constexpr std::int64_t P = H - K + 1, Q = W - L + 1;
  Expansion y, dw, dx;
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t o = 0; o < O; ++o)
      for (std::int64_t c = 0; c < C; ++c)
        for (std::int64_t p = 0; p < P; ++p)
          for (std::int64_t q = 0; q < Q; ++q)
            for (std::int64_t k = 0; k < K; ++k)
              for (std::int64_t l = 0; l < L; ++l) {
                y.add(((n * O + o) * P + p) * Q + q, {c, k, l});
                dw.add(((o * C + c) * K + k) * L + l, {n, p, q});
                dx.add(((n * C + c) * H + p + k) * W + q + l, {o, k, l});
              }
  const Shape x{N, C, H, W}, w{O, C, K, L}, dy{N, O, P, Q};
  expect_same(cost_of("convolution", {}, {x, w}), y);
  expect_same(
      cost_of("convolution_grad_weight", {{"kernel", std::vector<std::int64_t>{K, L}}}, {x, dy}),
      dw);
  expect_same(
      cost_of("convolution_grad_input", {{"spatial", std::vector<std::int64_t>{H, W}}}, {dy, w}),
      dx);
}

TEST(WorkDepth, K02PoolingExpanded) {
  constexpr std::int64_t N = 2, C = 3, H = 8, K = 4;
  Expansion y;
  for (std::int64_t m = 0; m < N * C; ++m)
    for (std::int64_t i = 0; i < H; ++i)
      for (std::int64_t j = 0; j < H; ++j)
        y.add((m * (H / K) + i / K) * (H / K) + j / K, {i % K, j % K});
  const Settings settings{{"kernel", std::vector<std::int64_t>{K}}};
  expect_same(cost_of("max_pool", settings, {{N, C, H, H}}), y);
  EXPECT_EQ(y.work(), N * C * H * H) << "as Table 4 says when windows do not overlap";
  const Cost mean = cost_of("average_pool", settings, {{N, C, H, H}});
  EXPECT_EQ(mean.work, y.work());
  EXPECT_EQ(mean.depth, y.depth() + 1) << "and the division";
}

TEST(WorkDepth, K02ActivationsExpanded) {
  for (const char* op : {"relu", "leaky_relu", "sigmoid", "tanh", "gelu"}) {
    const Cost cost = cost_of(op, {}, {{2, 3, 4, 5}});
    EXPECT_EQ(cost.work, 2 * 3 * 4 * 5) << op;
    EXPECT_EQ(cost.depth, 1) << op;
  }
}

// Σx, Σx² and the number of summands, over samples and positions (erratum 15: not over N only).
TEST(WorkDepth, K02BatchNormalisationExpanded) {
  constexpr std::int64_t N = 3, C = 2, H = 3, W = 4;
  Expansion sums;
  for (std::int64_t c = 0; c < C; ++c)
    for (std::int64_t sum = 0; sum < 3; ++sum)
      for (std::int64_t i = 0; i < N * H * W; ++i) sums.add(3 * c + sum, {i});
  expect_same(cost_of("channel_sums", {}, {{N, C, H, W}}), sums);
}

// Doubling each dimension doubles the work and adds to the depth exactly where it is summed over.
TEST(WorkDepth, K02DoublingADimensionScalesAsStated) {
  struct Doubled {
    const char* dimension;
    Shape x, w, dy;
    double y, dw, dx;  // added depth
  };
  const Shape x{4, 8, 9, 9}, w{16, 8, 2, 2}, dy{4, 16, 8, 8};
  const auto costs = [](const Shape& a, const Shape& b, const Shape& c) {
    return std::vector<Cost>{
        cost_of("convolution", {}, {a, b}),
        cost_of("convolution_grad_weight",
                {{"kernel", std::vector<std::int64_t>(b.begin() + 2, b.end())}}, {a, c}),
        cost_of("convolution_grad_input",
                {{"spatial", std::vector<std::int64_t>(a.begin() + 2, a.end())}}, {c, b})};
  };
  const std::vector<Cost> base = costs(x, w, dy);
  for (const Doubled& doubled :
       std::vector<Doubled>{{"N", {8, 8, 9, 9}, w, {8, 16, 8, 8}, 0, 1, 0},
                            {"Cin", {4, 16, 9, 9}, {16, 16, 2, 2}, dy, 1, 0, 0},
                            {"Cout", x, {32, 8, 2, 2}, {4, 32, 8, 8}, 0, 0, 1},
                            {"H'", {4, 8, 17, 9}, w, {4, 16, 16, 8}, 0, 1, 0},
                            {"Ky", {4, 8, 11, 9}, {16, 8, 4, 2}, dy, 1, 0, 1}}) {
    const std::vector<Cost> found = costs(doubled.x, doubled.w, doubled.dy);
    const double added[] = {doubled.y, doubled.dw, doubled.dx};
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(found[k].work, 2 * base[k].work) << doubled.dimension << " " << k;
      EXPECT_EQ(found[k].depth, base[k].depth + added[k]) << doubled.dimension << " " << k;
    }
  }
}

// --- the step of a network ---

struct Step {
  Graph graph;
  int forward_origins = 0;
};

Step step_of(const char* model, const NetInput& input) {
  Net net = build_net(models().find(model), {}, input);
  const int origins = net.graph.next_origin;
  differentiate(net.graph, net.loss, net.table, net.parameters);
  remove_dead_code(net.graph);
  return {std::move(net.graph), origins};
}

const OperatorRow* row_of(const WorkDepth& all, const char* op, Evaluates what) {
  for (const OperatorRow& row : all.operators)
    if (row.op == op && row.what == what) return &row;
  return nullptr;
}

TEST(WorkDepth, MatmulsAreToldApartByWhatTheyEvaluate) {
  const Step step =
      step_of("mlp", {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = 4});
  const WorkDepth all = work_depth(step.graph, step.forward_origins);
  const OperatorRow* y = row_of(all, "matmul", Evaluates::y);
  const OperatorRow* dw = row_of(all, "matmul", Evaluates::dw);
  const OperatorRow* dx = row_of(all, "matmul", Evaluates::dx);
  ASSERT_TRUE(y != nullptr && dw != nullptr && dx != nullptr);
  EXPECT_EQ(y->work, dw->work);
  EXPECT_EQ(y->nodes, dx->nodes + 1) << "the gradient by the samples is not needed";
  EXPECT_EQ(y->depth_formula, "log Cin");
  EXPECT_EQ(dw->depth_formula, "log N");
  EXPECT_EQ(dw->depth, 2);
  EXPECT_EQ(dx->depth_formula, "log Cout");
}

TEST(WorkDepth, FormulasThatAreCorrectedKeepThePrintedOne_K02) {
  const Step step =
      step_of("resnet20", {.fields = input_and_labels({3, 32, 32}), .classes = 10, .batch = 2});
  for (const OperatorRow& row : work_depth(step.graph, step.forward_origins).operators) {
    const bool corrected = row.op == "convolution_grad_weight" ||
                           row.op == "convolution_grad_input" || row.op == "channel_sums" ||
                           row.op == "normalise_sums";
    EXPECT_EQ(row.printed_depth != row.depth_formula, corrected) << row.op;
  }
}

TEST(WorkDepth, GradientsOfBatchNormalisation) {
  const Step step =
      step_of("resnet20", {.fields = input_and_labels({3, 32, 32}), .classes = 10, .batch = 2});
  const WorkDepth all = work_depth(step.graph, step.forward_origins);
  EXPECT_NE(row_of(all, "normalise_sums", Evaluates::dw), nullptr);
  EXPECT_NE(row_of(all, "normalise_grad_input", Evaluates::dx), nullptr);
  EXPECT_EQ(row_of(all, "convolution_grad_weight", Evaluates::dx), nullptr);
}

TEST(WorkDepth, K01PartsAddUpToTheStep) {
  const Step step =
      step_of("lenet", {.fields = input_and_labels({1, 28, 28}), .classes = 10, .batch = 2});
  const WorkDepth all = work_depth(step.graph, step.forward_origins);
  double by_operator = 0, by_layer = 0;
  for (const OperatorRow& row : all.operators) by_operator += row.work;
  for (const LayerRow& row : all.layers) by_layer += row.y.work + row.dx.work + row.dw.work;
  EXPECT_EQ(by_operator, all.step.work);
  EXPECT_LE(by_layer, all.step.work);
  EXPECT_GE(by_layer, 0.99 * all.step.work) << "all but the loss stands in layers";
  EXPECT_EQ(all.forward.work + all.backward.work, all.step.work);
  EXPECT_LE(all.step.depth, all.forward.depth + all.backward.depth);
  EXPECT_GT(all.step.depth, all.forward.depth);
}

// K12: W/D of single samples. Deeper networks have more work, but no more of it at a time.
TEST(WorkDepth, K12ParallelismOfShallowAndDeepNetworks) {
  const NetInput images{.fields = input_and_labels({3, 224, 224}), .classes = 1000};
  const auto forward_of = [&](const char* model) {
    const Step step = step_of(model, images);
    return work_depth(step.graph, step.forward_origins).forward;
  };
  const Cost shallow = forward_of("resnet18"), deep = forward_of("resnet50");
  EXPECT_GT(deep.work, 2 * shallow.work);
  EXPECT_LT(parallelism(deep), parallelism(shallow));
}

}  // namespace
}  // namespace tutti
