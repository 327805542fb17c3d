// SPDX-License-Identifier: Apache-2.0
// What is special to each rule: the catalogue's numbers (I01, I03–I08, I10, I11) and the trade-off
// of batch sizes (K10).
#include "tutti/optim/rule.h"

#include "tutti/core/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tutti {
namespace {

using Gradient = std::function<double(double)>;

// The weight after `steps` updates of one number; `states` receives the state vectors' values.
double run(const std::string& name, std::vector<double> numbers, double rate, double w, int steps,
           const Gradient& gradient, double decay = 0, std::vector<double>* keep = nullptr) {
  const Rule rule = rules().find(name);
  std::vector<double> values(4, 0.0);
  void* states[4] = {&values[0], &values[1], &values[2], &values[3]};
  for (std::int64_t t = 1; t <= steps; ++t) {
    const double g = gradient(w);
    rule.apply({DType::f64, &w, &g, states, 1,
                Hyper{.rate = rate, .weight_decay = decay, .step = t, .rule = numbers.data()}});
  }
  if (keep != nullptr) *keep = values;
  return w;
}

const Gradient one = [](double) { return 1.0; };

TEST(Sgd, ErrorFallsGeometrically_I01) {
  for (double h : {0.1, 1.0, 5.0}) {
    const double w = run("sgd", {}, 0.3, 3.0, 20, [h](double x) { return h * (x - 1); });
    EXPECT_NEAR(w - 1, 2 * std::pow(1 - 0.3 * h, 20), 1e-12 * std::max(1.0, std::abs(w)));
  }
}

TEST(Momentum, ZeroIsSgd_I03) {
  const Gradient g = [](double w) { return 0.7 * (w - 1); };
  EXPECT_DOUBLE_EQ(run("momentum", {0.0}, 0.2, 3, 10, g), run("sgd", {}, 0.2, 3, 10, g));
}

TEST(Momentum, FollowsTheTwoTermRecursion_I03) {
  const double h = 0.7, rate = 0.2, mu = 0.9;
  double before = 2, now = 2;  // distance from the minimum at 1
  for (int t = 0; t < 50; ++t) {
    const double next = (1 + mu - rate * h) * now - mu * before;
    before = now;
    now = next;
  }
  const double w = run("momentum", {mu}, rate, 3, 50, [h](double x) { return h * (x - 1); });
  EXPECT_NEAR(w - 1, now, 1e-12);
}

TEST(Momentum, SteadyStepUnderConstantGradient_I03) {
  const double step =
      run("momentum", {0.9}, 0.01, 0, 500, one) - run("momentum", {0.9}, 0.01, 0, 501, one);
  EXPECT_NEAR(step, 0.01 / (1 - 0.9), 1e-12);
}

TEST(Nesterov, ReachesTheCataloguesNumber_I04) {
  double largest = 0;
  for (double h : {1.0, 100.0}) {
    std::vector<double> states;
    const double ahead = run(
        "nesterov", {0.9}, 0.009, 1, 200, [h](double w) { return h * w; }, 0, &states);
    largest = std::max(largest, std::abs(ahead - 0.9 * states[0]));  // w = φ − μv
  }
  EXPECT_NEAR(largest, 1.151e-5, 0.0005e-5);
}

// The printed form takes the gradient at w − μv: it diverges where ours converges.
TEST(Nesterov, PrintedFormDiverges_Erratum1) {
  double largest = 0;
  for (double h : {1.0, 100.0}) {
    double w = 1, v = 0;
    for (int t = 0; t < 200; ++t) {
      v = 0.9 * v - 0.009 * h * (w - 0.9 * v);
      w += v;
    }
    largest = std::max(largest, std::abs(w));
  }
  EXPECT_GT(largest, 1e22);
}

TEST(AdaGrad, StepsFallWithTheRootOfTime_I05) {
  double sum = 0;
  for (int t = 1; t <= 100; ++t) {
    sum += 0.1 / std::sqrt(t);
    EXPECT_NEAR(run("adagrad", {1e-30}, 0.1, 0, t, one), -sum, 1e-12) << t;
  }
  for (double scale : {1e-6, 1.0, 1e6})  // the first step is the rate whatever the scale
    EXPECT_NEAR(run("adagrad", {1e-30}, 0.1, 0, 1, [=](double) { return scale; }), -0.1, 1e-15);
}

TEST(AdaGrad, EpsilonStandsOutsideTheRoot_Erratum3) {
  EXPECT_NEAR(run("adagrad", {0.5}, 0.1, 0, 1, one), -0.1 / 1.5, 1e-15);
  // The square of each step's own gradient is summed, not t times the last one's.
  int t = 0;
  const Gradient alternating = [&](double) { return t++ == 0 ? 3.0 : 4.0; };
  EXPECT_NEAR(run("adagrad", {1e-30}, 1, 0, 2, alternating), -1 - 4.0 / 5, 1e-15);
}

TEST(RmsProp, StepsTendToTheRate_I06) {
  for (double g : {1e-3, 1.0, 50.0}) {
    const auto at = [&](int t) {
      return run("rmsprop", {0.9, 1e-30}, 0.01, 0, t, [=](double) { return g; });
    };
    EXPECT_NEAR(at(1), -0.01 / std::sqrt(1 - 0.9), 1e-12);
    EXPECT_NEAR(at(400) - at(401), 0.01, 1e-12);
  }
}

// k small steps against one of k times the rate: the gap is of second order in the rate (I08).
TEST(Sgd, OneScaledStepReplacesSmallOnes_I08) {
  const Gradient g = [](double w) { return std::sinh(w - 1); };
  const auto gap = [&](double rate) {
    return std::abs(run("sgd", {}, rate, 2, 8, g) - run("sgd", {}, 8 * rate, 2, 1, g));
  };
  EXPECT_NEAR(gap(0.0005) / gap(0.00025), 4, 0.02);
}

// Two ranges of weights, and one step of a rule on each with its own norms.
struct TwoRanges {
  std::vector<double> w, g;
  std::vector<double> steps(const std::string& name, std::vector<double> numbers, double decay,
                            double rate) const {
    const Rule rule = rules().find(name);
    std::vector<double> next = w;
    const std::size_t half = w.size() / 2;
    for (std::size_t begin : {std::size_t{0}, half}) {
      std::vector<double> m(half), v(half);
      void* states[] = {m.data(), v.data()};
      double squares[2] = {};
      UpdateArgs args{DType::f64,
                      next.data() + begin,
                      g.data() + begin,
                      states,
                      static_cast<std::int64_t>(half),
                      Hyper{.rate = rate, .weight_decay = decay, .rule = numbers.data()}};
      rule.measure(args, squares);
      args.hyper.squares = squares;
      rule.apply(args);
    }
    for (std::size_t i = 0; i < w.size(); ++i) next[i] -= w[i];
    return next;
  }
};

double norm(const double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] * values[i];
  return std::sqrt(sum);
}

TEST(Lars, AStepIsAPartOfTheWeights_I10) {
  TwoRanges layers{{1, -2, 3, 10, 20, -5}, {0.1, 0.2, -0.3, 4, 5, 6}};
  const std::vector<double> steps = layers.steps("lars", {0, 0.02}, 0, 0.5);
  for (std::size_t begin : {0, 3})
    EXPECT_NEAR(norm(&steps[begin], 3) / norm(&layers.w[begin], 3), 0.5 * 0.02, 1e-12);
}

TEST(Lars, TheScaleOfAGradientChangesNothing_I10) {
  TwoRanges layers{{1, -2, 3, 10, 20, -5}, {0.1, 0.2, -0.3, 4, 5, 6}};
  const std::vector<double> before = layers.steps("lars", {0, 0.02}, 0, 0.5);
  const std::vector<double> lamb = layers.steps("lamb", {0.9, 0.999, 1e-30}, 0, 0.5);
  for (std::size_t i = 3; i < 6; ++i) layers.g[i] *= 1000;
  const std::vector<double> after = layers.steps("lars", {0, 0.02}, 0, 0.5);
  const std::vector<double> lamb_after = layers.steps("lamb", {0.9, 0.999, 1e-30}, 0, 0.5);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(after[i], before[i], 1e-6 * std::abs(before[i]));
    EXPECT_NEAR(lamb_after[i], lamb[i], 1e-6 * std::abs(lamb[i]));
  }
}

TEST(Lars, WeightDecayCountsInTheRatio_I10) {
  const TwoRanges layers{{3, 0, 4, 0}, {0, 1, 0, 2}};
  const std::vector<double> steps = layers.steps("lars", {0, 0.1}, 0.5, 1);
  EXPECT_NEAR(steps[0], -0.1 * 3 / (1 + 0.5 * 3) * 0.5 * 3, 1e-15);
  EXPECT_NEAR(steps[3], -0.1 * 4 / (2 + 0.5 * 4) * 2, 1e-15);
}

TEST(Lars, ZeroWeightsCanMove) {
  const TwoRanges layers{{0, 0, 1, 1}, {1, 1, 0, 0}};
  const std::vector<double> steps = layers.steps("lars", {0, 0.1}, 0, 0.5);
  EXPECT_EQ(steps, (std::vector<double>{-0.5, -0.5, 0, 0}));
}

TEST(Lamb, AStepHasThePartOfTheWeightsThatTheRateSays) {
  const TwoRanges layers{{1, -2, 3, 10, 20, -5}, {0.1, 0.2, -0.3, 4, 5, 6}};
  const std::vector<double> steps = layers.steps("lamb", {0.9, 0.999, 1e-8}, 0.01, 0.03);
  for (std::size_t begin : {0, 3})
    EXPECT_NEAR(norm(&steps[begin], 3) / norm(&layers.w[begin], 3), 0.03, 1e-12);
}

// Many runs at once on a noisy quadratic: element (run, i) has curvature h_i and starts at ±1, the
// noise of its gradient has the variance 4 h_i / batch. The mean loss ½ Σ h_i E w_i² follows the
// recursion of second moments m_i ← (1 − ηh_i)² m_i + 4η²h_i / batch.
class NoisyQuadratic {
 public:
  NoisyQuadratic(std::vector<double> h, int runs) : h_(std::move(h)), runs_(runs) {
    w_.resize(h_.size() * static_cast<std::size_t>(runs));
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] = uniform(1, i) < 0.5 ? -1 : 1;
    g_.resize(w_.size());
  }
  void steps(int count, double rate, double batch) {
    const Rule sgd = rules().find("sgd");
    for (int t = 0; t < count; ++t, ++t_) {
      for (std::size_t i = 0; i < w_.size(); ++i) {
        const double h = h_[i % h_.size()];
        g_[i] = h * w_[i] + 2 * std::sqrt(h / batch) * normal(fold(2, t_), i);
      }
      sgd.apply({DType::f64, w_.data(), g_.data(), nullptr, static_cast<std::int64_t>(w_.size()),
                 Hyper{.rate = rate}});
    }
  }
  double loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < w_.size(); ++i) sum += h_[i % h_.size()] * w_[i] * w_[i] / 2;
    return sum / runs_;
  }

 private:
  std::vector<double> h_, w_, g_;
  int runs_;
  std::uint64_t t_ = 0;
};

TEST(Sgd, DividingTheRateOrMultiplyingTheBatchIsTheSame_I11) {
  const std::vector<double> h = {1, 0.7, 0.5};
  NoisyQuadratic slow(h, 4000), large(h, 4000);
  slow.steps(400, 0.2 / 4, 8);
  large.steps(100, 0.2, 4 * 8);  // fewer updates by the factor
  EXPECT_NEAR(slow.loss() / large.loss(), 1, 0.1);
}

// Flat, knee, then wasted samples. The best rate of each batch comes from the exact recursion on a
// 5 % grid; the rule with that rate is then as fast.
TEST(Sgd, LargeBatchesWasteSamplesBeyondTheKnee_K10) {
  std::vector<double> h(20);
  for (std::size_t i = 0; i < 20; ++i) h[i] = 0.02 * std::pow(50.0, static_cast<double>(i) / 19);
  const double target = 0.02;
  const auto steps_to_target = [&](double rate, double batch, int most) {
    std::vector<double> m(20, 1.0);
    for (int t = 0; t < most; ++t) {
      double loss = 0;
      for (std::size_t i = 0; i < 20; ++i) loss += h[i] * m[i] / 2;
      if (loss < target) return t;
      for (std::size_t i = 0; i < 20; ++i)
        m[i] = (1 - rate * h[i]) * (1 - rate * h[i]) * m[i] + 4 * rate * rate * h[i] / batch;
    }
    return most;
  };
  const std::vector<std::pair<double, int>> expected = {{1, 16167}, {4, 4051},   {16, 1022},
                                                        {64, 265},  {256, 76},   {1024, 29},
                                                        {4096, 17}, {16384, 15}, {65536, 14}};
  for (const auto& [batch, steps] : expected) {
    int best = 20000;
    double best_rate = 0;
    for (double rate = 2.0; rate > 1e-4; rate /= 1.05)
      if (const int taken = steps_to_target(rate, batch, best); taken < best)
        best = taken, best_rate = rate;
    // The grid's origin is ours: 5 % steps around a flat optimum move it by a fraction of a per
    // cent.
    EXPECT_NEAR(best, steps, std::max(1.0, 0.005 * steps)) << "batch " << batch;
    if (batch < 64) continue;
    NoisyQuadratic runs(h, 2000);
    runs.steps(best, best_rate, batch);
    EXPECT_NEAR(runs.loss(), target, 0.1 * target) << "batch " << batch;
  }
}

TEST(Adam, EveryStepIsTheRateUnderConstantGradient_I07) {
  for (const char* name : {"adam", "adamw"})
    for (double g : {1e-3, 1.0, 50.0})
      for (int t : {1, 2, 3, 10, 1000}) {
        const double w = run(name, {0.9, 0.999, 1e-30}, 0.01, 0, t, [g](double) { return g; });
        EXPECT_NEAR(w, -0.01 * t, 1e-12 * t) << name << " g = " << g << " t = " << t;
      }
}

TEST(Adam, MomentsAreRaw_Erratum2) {
  std::vector<double> states;
  run("adam", {0.9, 0.999, 1e-8}, 0.01, 0, 2, one, 0, &states);
  EXPECT_NEAR(states[0], 1 - 0.9 * 0.9, 1e-15);
  EXPECT_NEAR(states[1] / (1 - 0.999 * 0.999), 1, 1e-12);  // the printed form gives 500
}

TEST(AdamW, DecayIsDecoupled) {
  // Without a gradient the weights shrink by 1 − ηλ a step; Adam's L2 form moves a whole rate.
  const Gradient none = [](double) { return 0.0; };
  const std::vector<double> numbers = {0.9, 0.999, 1e-8};
  EXPECT_NEAR(run("adamw", numbers, 0.1, 2, 3, none, 0.01), 2 * std::pow(1 - 0.001, 3), 1e-15);
  EXPECT_NEAR(run("adam", numbers, 0.1, 2, 1, none, 0.01), 2 - 0.1, 1e-6);
}

TEST(Rules, ResolveTheirSettings) {
  const Rule momentum = rules().find("momentum");
  EXPECT_EQ(rule_numbers(momentum, resolve(momentum.settings, {}, "here")),
            std::vector<double>{0.9});
  const Rule adam = rules().find("adam");
  EXPECT_EQ(rule_numbers(adam, resolve(adam.settings, {{"beta2", 0.99}}, "here")),
            (std::vector<double>{0.9, 0.99, 1e-8}));
  EXPECT_THROW(resolve(adam.settings, {{"beta2", 1.0}}, "here"), Error);
  EXPECT_THROW(rules().find("adm"), Error);
}

}  // namespace
}  // namespace tutti
