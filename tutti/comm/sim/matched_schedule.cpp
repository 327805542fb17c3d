// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/matched_schedule.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <utility>

namespace tutti::sim {
namespace {

using collectives::Action;

// The sends, or the receives, of all ranks: the pair of ranks, and the place in `messages`. Sorted,
// they are in order of pairs, and within a pair in the order of the rank.
using Ends = std::vector<std::pair<std::uint64_t, std::int32_t>>;

void append_rank(MatchedSchedule& into, const collectives::Actions& actions,
                 std::int64_t element_bytes) {
  int phase = -1;
  for (const Action& action : actions) {
    if (phase != action.phase) into.phases.push_back({});
    phase = action.phase;
    const auto bytes = static_cast<double>(action.segment.count() * element_bytes);
    if (action.is_message())
      into.messages.push_back({action.kind == Action::send, action.peer, 0, bytes});
    if (action.kind != Action::send && action.kind != Action::receive)
      into.phases.back().added_bytes += bytes;
    into.phases.back().end = static_cast<std::int32_t>(into.messages.size());
  }
}

}  // namespace

MatchedSchedule matched(const collectives::Schedule& schedule) {
  MatchedSchedule result;
  result.ranks = schedule.problem.ranks;
  Ends sends, receives;
  const auto here = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
  for (int rank = 0; rank < result.ranks; ++rank) {
    const std::int32_t first = here(result.messages);
    result.first_messages.push_back(first);
    result.first_phases.push_back(here(result.phases));
    append_rank(result, schedule.ranks[static_cast<std::size_t>(rank)],
                bytes_of(schedule.problem.dtype));
    for (std::int32_t i = first; i < here(result.messages); ++i) {
      const MatchedSchedule::Message& message = result.messages[static_cast<std::size_t>(i)];
      check(message.peer != rank && message.peer >= 0 && message.peer < result.ranks,
            "messages go to other ranks of the job");
      const auto from = static_cast<std::uint64_t>(message.sends ? rank : message.peer);
      const auto to = static_cast<std::uint64_t>(message.sends ? message.peer : rank);
      (message.sends ? sends : receives).emplace_back(from << 32 | to, i);
    }
  }
  result.first_messages.push_back(here(result.messages));
  result.first_phases.push_back(here(result.phases));
  std::sort(sends.begin(), sends.end());
  std::sort(receives.begin(), receives.end());
  check(sends.size() == receives.size(), "each message has two ends");
  for (std::size_t k = 0; k < sends.size(); ++k) {
    MatchedSchedule::Message& out = result.messages[static_cast<std::size_t>(sends[k].second)];
    MatchedSchedule::Message& in = result.messages[static_cast<std::size_t>(receives[k].second)];
    check(sends[k].first == receives[k].first, "each message has two ends");
    check(out.bytes == in.bytes, "both ends state the same size");
    out.other_end = receives[k].second;
    in.other_end = sends[k].second;
  }
  return result;
}

}  // namespace tutti::sim
