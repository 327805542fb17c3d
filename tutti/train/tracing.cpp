// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/tracing.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

constexpr std::int64_t warm_up = 2;  // steps
constexpr std::size_t ranks_of_timeline = 4;

using Json = nlohmann::ordered_json;

std::vector<std::uint8_t> packed(const std::vector<TracedStep>& steps) {
  Json list = Json::array();
  for (const TracedStep& step : steps) {
    Json events = Json::array();
    for (const TraceEvent& event : step.events)
      events.push_back({event.name, event.detail, static_cast<int>(event.stream), event.start,
                        event.seconds, event.bytes});
    list.push_back({step.began, std::move(events)});
  }
  return Json::to_cbor(list);
}

std::vector<TracedStep> unpacked(const std::vector<std::uint8_t>& bytes, int rank) {
  std::vector<TracedStep> steps;
  for (const Json& step : Json::from_cbor(bytes)) {
    TracedStep& own = steps.emplace_back();
    own.began = step[0];
    for (const Json& event : step[1])
      own.events.push_back({.name = event[0],
                            .detail = event[1],
                            .rank = rank,
                            .stream = static_cast<TraceEvent::Stream>(event[2].get<int>()),
                            .start = event[3],
                            .seconds = event[4],
                            .bytes = event[5]});
  }
  return steps;
}

// The traced steps of all ranks, on rank 0; nothing elsewhere.
std::vector<std::vector<TracedStep>> gathered(std::vector<TracedStep> own,
                                              Communicator& communicator) {
  const char* what = "the trace";
  const int tag = communicator.tags().of({.what = what});
  if (communicator.rank() > 0) {
    std::vector<std::uint8_t> bytes = packed(own);
    auto count = static_cast<std::int64_t>(bytes.size());
    Request sent = communicator.send(&count, sizeof count, 0, tag);
    wait(sent, communicator, what);
    sent = communicator.send(bytes.data(), count, 0, tag);
    wait(sent, communicator, what);
    return {};
  }
  std::vector<std::vector<TracedStep>> all = {std::move(own)};
  for (int rank = 1; rank < communicator.size(); ++rank) {
    std::int64_t count = 0;
    Request received = communicator.receive(&count, sizeof count, rank, tag);
    wait(received, communicator, what);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count));
    received = communicator.receive(bytes.data(), count, rank, tag);
    wait(received, communicator, what);
    all.push_back(unpacked(bytes, rank));
  }
  return all;
}

// The time line of one step on the first ranks, from when the earliest of them began. Messages that
// an earlier step had started are left out.
Timeline timeline_of(const std::vector<std::vector<TracedStep>>& by_rank, std::size_t step) {
  Timeline timeline;
  double began = by_rank[0][step].began;
  const std::size_t ranks = std::min(by_rank.size(), ranks_of_timeline);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    began = std::min(began, by_rank[rank][step].began);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (TraceEvent event : by_rank[rank][step].events) {
      if (event.start < by_rank[rank][step].began) continue;
      event.start -= began;
      timeline.seconds = std::max(timeline.seconds, event.start + event.seconds);
      timeline.events.push_back(std::move(event));
    }
  return timeline;
}

}  // namespace

Timeline median_timeline(const std::vector<std::vector<TracedStep>>& by_rank,
                         std::int64_t first_step) {
  std::vector<Timeline> steps;
  std::vector<double> seconds;
  for (std::size_t step = 0; step < by_rank[0].size(); ++step) {
    steps.push_back(timeline_of(by_rank, step));
    steps.back().step = first_step + static_cast<std::int64_t>(step);
    seconds.push_back(steps.back().seconds);
  }
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end(),
                   [](const Timeline& a, const Timeline& b) { return a.seconds < b.seconds; });
  middle->step_seconds = std::move(seconds);
  return std::move(*middle);
}

Tracing::Tracing(Communicator& communicator, std::string path, std::int64_t steps,
                 std::int64_t first_step, std::int64_t total_steps)
    : communicator_(communicator), path_(std::move(path)) {
  first_ = first_step + warm_up;
  const std::int64_t wanted = path_.empty() ? 1 : steps;
  if (total_steps > 0) first_ = std::max(first_step, std::min(first_, total_steps - wanted));
  end_ = first_ + steps;
}

Profile* Tracing::begin(std::int64_t step) {
  if (step < first_ || step >= end_) return nullptr;
  if (step == first_) {
    communicator_.barrier();  // clocks of different machines start together
    origin_ = communicator_.seconds();
  }
  steps_.push_back({communicator_.seconds() - origin_, {}});
  profile_.trace = &steps_.back().events;
  return &profile_;
}

std::optional<Timeline> Tracing::end(std::int64_t step, bool stops) {
  if (step < first_ || step >= end_) return std::nullopt;
  if (step + 1 < end_ && !stops) return std::nullopt;
  end_ = 0;
  return collect();
}

std::optional<Timeline> Tracing::collect() {
  std::vector<TracedStep> own;
  for (TracedStep& step : steps_) {
    own.push_back({step.began, std::exchange(step.events, {})});
    for (TraceEvent& event : own.back().events) event.start -= origin_;
  }
  const auto by_rank = gathered(std::move(own), communicator_);
  if (by_rank.empty()) return std::nullopt;
  if (!path_.empty()) {
    TraceEvents all;
    for (const std::vector<TracedStep>& steps : by_rank)
      for (const TracedStep& step : steps)
        all.insert(all.end(), step.events.begin(), step.events.end());
    write_trace(path_, all);
  }
  return median_timeline(by_rank, first_);
}

}  // namespace tutti
