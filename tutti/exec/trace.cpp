// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/trace.h"

#include "tutti/core/output_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Rows of a rank: 0 computes, the others carry messages.
int row_of(const TraceEvent& event, int lane) {
  return event.stream == TraceEvent::compute ? 0 : 1 + lane;
}

std::string name_of_row(int row) {
  if (row == 0) return "compute";
  return row == 1 ? "messages" : "messages " + std::to_string(row);
}

}  // namespace

std::vector<int> lanes_of(const TraceEvents& events) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return events[a].start < events[b].start; });
  std::map<std::pair<int, int>, std::vector<double>> ends;  // of each lane, by rank and stream
  std::vector<int> lanes(events.size());
  for (const std::size_t i : order) {
    const TraceEvent& event = events[i];
    std::vector<double>& taken = ends[{event.rank, event.stream}];
    const auto free =
        std::find_if(taken.begin(), taken.end(), [&](double end) { return end <= event.start; });
    lanes[i] = static_cast<int>(free - taken.begin());
    if (free == taken.end()) taken.push_back(0);
    taken[static_cast<std::size_t>(lanes[i])] = event.start + event.seconds;
  }
  return lanes;
}

std::string chrome_trace(const TraceEvents& events, double origin) {
  const std::vector<int> lanes = lanes_of(events);
  std::map<int, int> rows;  // by rank, how many
  for (std::size_t i = 0; i < events.size(); ++i)
    rows[events[i].rank] = std::max(rows[events[i].rank], 1 + row_of(events[i], lanes[i]));
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  const char* separator = "";
  const auto add = [&](const Json& event) {
    text += separator + dump(event);
    separator = ",\n";
  };
  for (const auto& [rank, count] : rows) {
    add({{"ph", "M"},
         {"name", "process_name"},
         {"pid", rank},
         {"args", {{"name", "rank " + std::to_string(rank)}}}});
    for (int row = 0; row < count; ++row)
      add({{"ph", "M"},
           {"name", "thread_name"},
           {"pid", rank},
           {"tid", row},
           {"args", {{"name", name_of_row(row)}}}});
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& event = events[i];
    Json args = Json::object();
    if (!event.detail.empty()) args["detail"] = event.detail;
    if (event.bytes > 0) args["bytes"] = event.bytes;
    add({{"ph", "X"},
         {"name", event.name},
         {"pid", event.rank},
         {"tid", row_of(event, lanes[i])},
         {"ts", 1e6 * (event.start - origin)},
         {"dur", 1e6 * event.seconds},
         {"args", args}});
  }
  return text + "\n]}\n";
}

void write_trace(const std::string& path, const TraceEvents& events, double origin) {
  const std::string text = chrome_trace(events, origin);
  OutputFile file(path, OutputFile::Existing::replace);
  file.write(text.data(), static_cast<std::int64_t>(text.size()));
}

}  // namespace tutti
