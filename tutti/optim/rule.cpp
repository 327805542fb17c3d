// SPDX-License-Identifier: Apache-2.0
#include "tutti/optim/rule.h"

#include "tutti/optim/functors.h"
#include "tutti/optim/loop.h"

namespace tutti {
namespace {

template <class F>
void apply(const UpdateArgs& args) {
  dispatch_float(args.dtype, [&]<class T>(T) {
    update_loop<F, T>(static_cast<T*>(args.w), static_cast<const T*>(args.g), args.states, 0,
                      args.count, args.hyper);
  });
}

template <class F>
void measure(const UpdateArgs& args, double* squares) {
  dispatch_float(args.dtype, [&]<class T>(T) {
    measure_loop<F, T>(static_cast<const T*>(args.w), static_cast<const T*>(args.g), args.states, 0,
                       args.count, args.hyper, squares);
  });
}

template <class F>
Rule rule_of() {
  Rule rule{.name = F::name, .doc = F::doc, .settings = {}, .states = F::states, .apply = apply<F>};
  if constexpr (requires { F::still; }) rule.still = F::still;
  if constexpr (has_direction<F>) rule.measure = measure<F>;
  for (const RuleSetting& setting : F::settings)
    rule.settings.push_back({setting.name, setting.initial, setting.doc, setting.min, setting.max});
  return rule;
}

template <class... F>
std::vector<Rule> rules_of(FunctorList<F...>) {
  return {rule_of<F>()...};
}

}  // namespace

List<Rule> rules() { return {"update rule", rules_of(Functors{})}; }

std::vector<double> rule_numbers(const Rule& rule, const Settings& settings) {
  std::vector<double> numbers;
  for (const Setting& setting : rule.settings) numbers.push_back(settings.real(setting.name));
  return numbers;
}

}  // namespace tutti
