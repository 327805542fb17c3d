// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/simulation.h"

#include <sstream>

namespace tutti {

std::map<int, double> slow_ranks(const std::string& text) {
  std::map<int, double> factors;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    std::istringstream in(word);
    int rank = 0;
    double factor = 0;
    char colon = 0;
    if (!(in >> rank >> colon >> factor) || !in.eof() || colon != ':' || rank < 0 || factor <= 0)
      throw Error("'slow' is \"{}\", expected ranks and factors, as in \"3:2.5 7:1.2\"", text);
    factors[rank] = factor;
  }
  return factors;
}

Network simulated_network(const Settings& simulation) {
  const double add = 1 / simulation.real("add_bandwidth");
  const double handled = simulation.real("core_bandwidth");
  LinkCost across{simulation.real("latency"), 1 / simulation.real("bandwidth"), add};
  across.handling_seconds_per_byte = handled == 0 ? 0 : 1 / handled;
  return {across,
          {simulation.real("node_latency"), 1 / simulation.real("node_bandwidth"), add},
          static_cast<int>(simulation.integer("node_ranks"))};
}

sim::ComputeLaw simulated_law(const Settings& simulation) {
  return {.slow = slow_ranks(simulation.text("slow")),
          .jitter = simulation.real("jitter"),
          .seed = static_cast<std::uint64_t>(simulation.integer("seed"))};
}

sim::SimulatedMachine simulated_machine(const Settings& simulation) {
  return {.network = simulated_network(simulation),
          .law = simulated_law(simulation),
          .faults = sim::faults_named(simulation.text("faults"))};
}

}  // namespace tutti
