// SPDX-License-Identifier: Apache-2.0
// Every update rule: its first steps against the formula written anew in double, its states, float
// against double, convergence on a quadratic, weight decay and clipping, norms by parts.
#include "tutti/core/rng.h"
#include "tutti/optim/rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <ostream>

namespace tutti {

inline void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

namespace {

// One element's history, by the textbook form of each rule.
struct Element {
  double w = 0, a = 0, b = 0;
};
using Elements = std::vector<Element>;
using Formula = void (*)(Elements&, const std::vector<double>& g, const Hyper&);

template <void (*step)(Element&, double g, const Hyper&)>
void each(Elements& range, const std::vector<double>& g, const Hyper& h) {
  for (std::size_t i = 0; i < range.size(); ++i) step(range[i], g[i], h);
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value * value;
  return std::sqrt(sum);
}

std::vector<double> weights_of(const Elements& range) {
  std::vector<double> w;
  for (const Element& e : range) w.push_back(e.w);
  return w;
}

void sgd(Element& e, double g, const Hyper& h) { e.w = e.w - h.rate * (g + h.weight_decay * e.w); }

// a is the weight before the last step, minus the weight: w' = w + μ(w − w_before) − ηg.
void momentum(Element& e, double g, const Hyper& h) {
  const double before = e.w + e.a;
  const double next = e.w + h.rule[0] * (e.w - before) - h.rate * (g + h.weight_decay * e.w);
  e.a = e.w - next;
  e.w = next;
}

// Keeps w and v apart and reports the look-ahead point, where the gradient g was taken.
void nesterov(Element& e, double g, const Hyper& h) {
  const double v = e.a, w = e.w - h.rule[0] * v;
  const double next_v = h.rule[0] * v - h.rate * (g + h.weight_decay * e.w);
  e.a = next_v;
  e.w = (w + next_v) + h.rule[0] * next_v;
}

void adam_step(Element& e, double g, const Hyper& h) {
  const double t = static_cast<double>(h.step);
  e.a = h.rule[0] * e.a + (1 - h.rule[0]) * g;
  e.b = h.rule[1] * e.b + (1 - h.rule[1]) * g * g;
  const double m = e.a / (1 - std::pow(h.rule[0], t)), v = e.b / (1 - std::pow(h.rule[1], t));
  e.w -= h.rate * m / (std::sqrt(v) + h.rule[2]);
}

void adam(Element& e, double g, const Hyper& h) { adam_step(e, g + h.weight_decay * e.w, h); }

void adamw(Element& e, double g, const Hyper& h) {
  e.w -= h.rate * h.weight_decay * e.w;
  adam_step(e, g, h);
}

void adagrad(Element& e, double g, const Hyper& h) {
  g += h.weight_decay * e.w;
  e.a += g * g;
  e.w -= h.rate * g / (std::sqrt(e.a) + h.rule[0]);
}

void rmsprop(Element& e, double g, const Hyper& h) {
  g += h.weight_decay * e.w;
  e.a = h.rule[0] * e.a + (1 - h.rule[0]) * g * g;
  e.w -= h.rate * g / (std::sqrt(e.a) + h.rule[1]);
}

void lars(Elements& range, const std::vector<double>& g, const Hyper& h) {
  const double weights = norm(weights_of(range));
  const double local = h.rule[1] * weights / (norm(g) + h.weight_decay * weights);
  for (std::size_t i = 0; i < range.size(); ++i) {
    Element& e = range[i];
    e.a = h.rule[0] * e.a + h.rate * local * (g[i] + h.weight_decay * e.w);
    e.w -= e.a;
  }
}

// The direction is Adam's step at rate 1 from 0, plus the decay.
void lamb(Elements& range, const std::vector<double>& g, const Hyper& h) {
  const std::vector<double> w = weights_of(range);
  Hyper unit = h;
  unit.rate = 1;
  std::vector<double> u;
  for (std::size_t i = 0; i < range.size(); ++i) {
    range[i].w = 0;
    adam_step(range[i], g[i], unit);
    u.push_back(-range[i].w + h.weight_decay * w[i]);
  }
  for (std::size_t i = 0; i < range.size(); ++i)
    range[i].w = w[i] - h.rate * norm(w) / norm(u) * u[i];
}

const std::map<std::string, Formula> formulas = {{"sgd", each<sgd>},
                                                 {"momentum", each<momentum>},
                                                 {"nesterov", each<nesterov>},
                                                 {"adagrad", each<adagrad>},
                                                 {"rmsprop", each<rmsprop>},
                                                 {"adam", each<adam>},
                                                 {"adamw", each<adamw>},
                                                 {"lars", lars},
                                                 {"lamb", lamb}};
const std::map<std::string, int> state_counts = {{"sgd", 0},     {"momentum", 1}, {"nesterov", 1},
                                                 {"adagrad", 1}, {"rmsprop", 1},  {"adam", 2},
                                                 {"adamw", 2},   {"lars", 1},     {"lamb", 2}};
// The rate at step t at which a rule comes to rest in the minimum of a quadratic: where a step does
// not shrink with the gradient, the rate must.
double rate_to_converge(const std::string& name, double t) {
  const std::map<std::string, double> first = {
      {"rmsprop", 0.05}, {"adam", 0.05}, {"adamw", 0.05}, {"lamb", 0.05}, {"lars", 50}};
  if (const auto found = first.find(name); found != first.end())
    return found->second * std::pow(0.995, t);
  return name == "adagrad" ? 0.5 : 0.1;
}

std::vector<double> defaults(const Rule& rule) {
  return rule_numbers(rule, resolve(rule.settings, {}, rule.name));
}

// The flat vectors of a small run.
template <class T>
struct Vectors {
  std::vector<T> w, g;
  std::vector<std::vector<T>> s;

  Vectors(const Rule& rule, std::size_t count)
      : w(count), g(count), s(static_cast<std::size_t>(rule.states), std::vector<T>(count)) {
    for (std::size_t i = 0; i < count; ++i) w[i] = static_cast<T>(normal(1, i));
  }
  // One step of the whole as one range.
  void apply(const Rule& rule, Hyper hyper) {
    double squares[2] = {};
    if (rule.measure != nullptr) {
      rule.measure(args(0, w.size(), hyper), squares);
      hyper.squares = squares;
    }
    rule.apply(args(0, w.size(), hyper));
  }
  // What a rule is told about elements [begin, end); valid until the next call.
  UpdateArgs args(std::size_t begin, std::size_t end, const Hyper& hyper) {
    states_.clear();
    for (auto& state : s) states_.push_back(state.data() + begin);
    return {.dtype = sizeof(T) == 4 ? DType::f32 : DType::f64,
            .w = w.data() + begin,
            .g = g.data() + begin,
            .states = states_.data(),
            .count = static_cast<std::int64_t>(end - begin),
            .hyper = hyper};
  }

 private:
  std::vector<void*> states_;
};

class Rules : public testing::TestWithParam<Rule> {};

TEST_P(Rules, FollowItsFormula) {
  const Rule& rule = GetParam();
  ASSERT_TRUE(formulas.contains(rule.name)) << "write the formula of the new rule into this test";
  const std::vector<double> numbers = defaults(rule);
  Vectors<double> run(rule, 37);
  Vectors<float> narrow(rule, 37);
  Elements expected(37);
  for (std::size_t i = 0; i < 37; ++i) expected[i].w = run.w[i];
  for (std::int64_t t = 1; t <= 5; ++t) {
    const Hyper hyper{.rate = 0.05 / static_cast<double>(t),
                      .weight_decay = 0.1,
                      .clip_value = 0.8,
                      .scale = 0.5,
                      .step = t,
                      .rule = numbers.data()};
    std::vector<double> g(37);
    for (std::size_t i = 0; i < 37; ++i) {
      run.g[i] = normal(fold(2, static_cast<std::uint64_t>(t)), i) * 2;
      narrow.g[i] = static_cast<float>(run.g[i]);
      g[i] = std::max(-0.8, std::min(0.8, run.g[i] * 0.5));
    }
    formulas.at(rule.name)(expected, g, hyper);
    run.apply(rule, hyper);
    narrow.apply(rule, hyper);
    for (std::size_t i = 0; i < 37; ++i) {
      EXPECT_NEAR(run.w[i], expected[i].w, 1e-14) << "step " << t << " element " << i;
      // A few roundings of values around 1 per step.
      EXPECT_NEAR(narrow.w[i], run.w[i], 2e-6) << "step " << t << " element " << i;
    }
  }
}

TEST_P(Rules, DeclareTheirStates) {
  const Rule& rule = GetParam();
  EXPECT_EQ(rule.states, state_counts.at(rule.name));
  EXPECT_FALSE(rule.doc.empty());
  // Every declared state vector is used: it is non-zero after a step with a gradient.
  const std::vector<double> numbers = defaults(rule);
  Vectors<double> run(rule, 3);
  run.g = {1, -1, 0.5};
  run.apply(rule, {.rate = 0.1, .rule = numbers.data()});
  for (const auto& state : run.s)
    for (double element : state) EXPECT_NE(element, 0);
}

TEST_P(Rules, LeaveZerosAlone) {  // gaps of the flat vectors stay zero
  const Rule& rule = GetParam();
  const std::vector<double> numbers = defaults(rule);
  Vectors<float> run(rule, 5);
  std::fill(run.w.begin(), run.w.end(), 0.f);
  run.apply(rule, {.rate = 0.1, .weight_decay = 0.1, .clip_value = 1, .rule = numbers.data()});
  EXPECT_EQ(run.w, std::vector<float>(5));
  for (const auto& state : run.s) EXPECT_EQ(state, std::vector<float>(5));
}

// Q(10, 10, 0): f(w) = ½ Σ h_i (w_i − 1)², h_i log-spaced in [1/10, 1].
TEST_P(Rules, ConvergeOnAQuadratic) {
  const Rule& rule = GetParam();
  const std::vector<double> numbers = defaults(rule);
  Vectors<double> run(rule, 10);
  for (std::int64_t t = 1; t <= 2000; ++t) {
    for (std::size_t i = 0; i < 10; ++i)
      run.g[i] = std::pow(10.0, -static_cast<double>(i) / 9) * (run.w[i] - 1);
    const double rate = rate_to_converge(rule.name, static_cast<double>(t));
    run.apply(rule, {.rate = rate, .step = t, .rule = numbers.data()});
  }
  for (double w : run.w) EXPECT_NEAR(w, 1, 1e-3);
}

TEST_P(Rules, DecayPullsWeightsToZero) {
  const Rule& rule = GetParam();
  const std::vector<double> numbers = defaults(rule);
  Vectors<double> run(rule, 8);
  const std::vector<double> before = run.w;
  run.apply(rule, {.rate = 0.1, .weight_decay = 0.01, .rule = numbers.data()});
  for (std::size_t i = 0; i < 8; ++i) EXPECT_LT(std::abs(run.w[i]), std::abs(before[i]));
}

TEST_P(Rules, ClampTheScaledGradient) {
  const Rule& rule = GetParam();
  const std::vector<double> numbers = defaults(rule);
  Vectors<double> clipped(rule, 3), plain(rule, 3);
  clipped.g = {100, -100, 0.25};
  plain.g = {1, -1, 0.5};
  clipped.apply(rule, {.rate = 0.1, .clip_value = 1, .scale = 2, .rule = numbers.data()});
  plain.apply(rule, {.rate = 0.1, .rule = numbers.data()});
  EXPECT_EQ(clipped.w, plain.w);
}

TEST_P(Rules, PassNaNOn) {  // a clamp must not hide it
  const Rule& rule = GetParam();
  const std::vector<double> numbers = defaults(rule);
  Vectors<float> run(rule, 9);
  run.g[4] = std::numeric_limits<float>::quiet_NaN();
  rule.apply(run.args(0, 9, {.rate = 0.1, .clip_value = 1, .rule = numbers.data()}));
  EXPECT_TRUE(std::isnan(run.w[4]));
  EXPECT_FALSE(std::isnan(run.w[3]));
}

// Parts of a range, measured apart and added, make the whole: what ranks that own parts rely on.
TEST_P(Rules, MeasureByParts) {
  const Rule& rule = GetParam();
  if (rule.measure == nullptr) return;
  const std::vector<double> numbers = defaults(rule);
  Vectors<float> run(rule, 53);
  for (std::size_t i = 0; i < 53; ++i) run.g[i] = static_cast<float>(normal(3, i));
  const Vectors<float> before = run;
  const Hyper hyper{.rate = 0.1, .weight_decay = 0.1, .rule = numbers.data()};
  double whole[2] = {}, parts[2] = {};
  rule.measure(run.args(0, 53, hyper), whole);
  rule.measure(run.args(0, 20, hyper), parts);
  rule.measure(run.args(20, 53, hyper), parts);
  double weights = 0;
  for (float w : run.w) weights += static_cast<double>(w) * static_cast<double>(w);
  EXPECT_NEAR(whole[0], weights, 1e-12 * weights);
  for (int k : {0, 1}) EXPECT_NEAR(parts[k], whole[k], 1e-12 * whole[k]);
  EXPECT_EQ(run.w, before.w);
  EXPECT_EQ(run.s, before.s) << "measuring changes nothing";
}

std::vector<Rule> all_rules() {
  const List<Rule> list = rules();
  return {list.begin(), list.end()};
}

INSTANTIATE_TEST_SUITE_P(Contract, Rules, testing::ValuesIn(all_rules()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace tutti
