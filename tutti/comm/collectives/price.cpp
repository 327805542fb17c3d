// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/price.h"

#include "tutti/comm/sim/virtual_ranks.h"

#include <algorithm>

namespace tutti::collectives {

double price(const Schedule& schedule, const Network& network) {
  sim::VirtualRanks ranks(schedule.problem.ranks, network);
  const int operation =
      ranks.add({{std::make_shared<sim::MatchedSchedule>(sim::matched(schedule))}});
  std::vector<bool> started(static_cast<std::size_t>(schedule.problem.ranks));
  double latest = 0;
  for (const sim::RankTimes& rank : ranks.run([&](int rank) {
         if (!started[static_cast<std::size_t>(rank)]) ranks.start(operation, rank);
         started[static_cast<std::size_t>(rank)] = true;
         if (ranks.is_ready(operation, rank))
           ranks.end(rank);
         else
           ranks.wait(rank, operation);
       }))
    latest = std::max(latest, rank.end);
  return latest;
}

double least_price(const Actions& actions, int rank, DType dtype, const Network& network) {
  const auto element_bytes = static_cast<double>(bytes_of(dtype));
  double seconds = 0;
  for (std::size_t i = 0; i < actions.size();) {
    double in = 0, out = 0, latency = 0, added = 0;
    for (const int phase = actions[i].phase; i < actions.size() && actions[i].phase == phase; ++i) {
      const Action& action = actions[i];
      const double bytes = static_cast<double>(action.segment.count()) * element_bytes;
      if (action.is_message()) {
        const LinkCost& link = network.link(rank, action.peer);
        (action.kind == Action::send ? out : in) +=
            std::max(0.0, link.message_seconds(bytes) - link.latency_seconds);
        latency = latency == 0 ? link.latency_seconds : std::min(latency, link.latency_seconds);
      }
      if (action.kind != Action::send && action.kind != Action::receive)
        added += network.within.add_seconds(bytes);
    }
    seconds += std::max(in, out) + latency + added;
  }
  return seconds;
}

}  // namespace tutti::collectives
