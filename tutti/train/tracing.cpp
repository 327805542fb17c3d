// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/tracing.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tutti {
namespace {

constexpr int trace_tag = (1 << 30) + 4;  // programs count theirs from 0
constexpr std::int64_t warm_up = 2;       // steps
constexpr int ranks_of_timeline = 4;

using Json = nlohmann::ordered_json;

std::vector<std::uint8_t> packed(const TraceEvents& events) {
  Json list = Json::array();
  for (const TraceEvent& event : events)
    list.push_back({event.name, event.detail, static_cast<int>(event.stream), event.start,
                    event.seconds, event.bytes});
  return Json::to_cbor(list);
}

void unpack(const std::vector<std::uint8_t>& bytes, int rank, TraceEvents& events) {
  for (const Json& event : Json::from_cbor(bytes))
    events.push_back({.name = event[0],
                      .detail = event[1],
                      .rank = rank,
                      .stream = static_cast<TraceEvent::Stream>(event[2].get<int>()),
                      .start = event[3],
                      .seconds = event[4],
                      .bytes = event[5]});
}

// Those of all ranks on rank 0, nothing elsewhere.
TraceEvents gathered(const TraceEvents& own, Communicator& communicator) {
  const char* what = "the trace";
  if (communicator.rank() > 0) {
    std::vector<std::uint8_t> bytes = packed(own);
    auto count = static_cast<std::int64_t>(bytes.size());
    Request sent = communicator.send(&count, sizeof count, 0, trace_tag);
    wait(sent, communicator, what);
    sent = communicator.send(bytes.data(), count, 0, trace_tag);
    wait(sent, communicator, what);
    return {};
  }
  TraceEvents all = own;
  for (int rank = 1; rank < communicator.size(); ++rank) {
    std::int64_t count = 0;
    Request received = communicator.receive(&count, sizeof count, rank, trace_tag);
    wait(received, communicator, what);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    received = communicator.receive(bytes.data(), count, rank, trace_tag);
    wait(received, communicator, what);
    unpack(bytes, rank, all);
  }
  return all;
}

}  // namespace

Tracing::Tracing(Communicator& communicator, std::string path, std::int64_t steps,
                 std::int64_t first_step, std::int64_t total_steps)
    : communicator_(communicator), path_(std::move(path)) {
  first_ = first_step + warm_up;
  if (total_steps > 0) first_ = std::max(first_step, std::min(first_, total_steps - steps));
  end_ = first_ + steps;
}

Profile* Tracing::begin(std::int64_t step) {
  if (step < first_ || step >= end_) return nullptr;
  if (step == first_) {
    communicator_.barrier();  // clocks of different machines start together
    origin_ = communicator_.seconds();
  }
  step_began_ = communicator_.seconds() - origin_;
  step_events_ = events_.size();
  profile_.trace = &events_;
  return &profile_;
}

std::optional<Timeline> Tracing::end(std::int64_t step, bool stops) {
  if (step < first_ || step >= end_) return std::nullopt;
  for (std::size_t i = step_events_; i < events_.size(); ++i) events_[i].start -= origin_;
  if (step + 1 < end_ && !stops) return std::nullopt;
  end_ = 0;
  return collect(step);
}

std::optional<Timeline> Tracing::collect(std::int64_t step) {
  const TraceEvents all = gathered(events_, communicator_);
  events_ = {};
  if (communicator_.rank() > 0) return std::nullopt;
  if (!path_.empty()) write_trace(path_, all);
  Timeline timeline{.step = step, .seconds = 0, .events = {}};
  for (TraceEvent event : all) {
    event.start -= step_began_;
    if (event.rank >= ranks_of_timeline || event.start < 0) continue;
    timeline.seconds = std::max(timeline.seconds, event.start + event.seconds);
    timeline.events.push_back(std::move(event));
  }
  return timeline;
}

}  // namespace tutti
