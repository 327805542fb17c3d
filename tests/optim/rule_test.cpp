// SPDX-License-Identifier: Apache-2.0
// What is special to each rule: the catalogue's numbers (I01, I03, I04, I07).
#include "tutti/optim/rule.h"

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
