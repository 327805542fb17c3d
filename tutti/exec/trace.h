// SPDX-License-Identifier: Apache-2.0
// What ranks did when: computing, waiting and messages, for people to look at. Programs write what
// they measure, the simulator what it predicts, both in this form.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct TraceEvent {
  enum Stream { compute, messages };  // messages of a rank may overlap

  std::string name;         // "convolution of conv1"
  std::string detail = "";  // the implementation, the algorithm; may be empty
  int rank = 0;
  Stream stream = compute;
  double start = 0, seconds = 0;
  std::int64_t bytes = 0;  // of a message
};

using TraceEvents = std::vector<TraceEvent>;

// By event: the number of its lane, 0, 1 …, such that events of one rank, stream and lane don't
// overlap.
std::vector<int> lanes_of(const TraceEvents& events);

// As JSON in the Chrome trace format, which Perfetto reads too: a process for each rank, a row for
// its computing and as many as are needed for its messages. Times are counted from `origin`, in
// seconds of the events' clock.
std::string chrome_trace(const TraceEvents& events, double origin = 0);

// Replaces the file. An Error says what prevents it.
void write_trace(const std::string& path, const TraceEvents& events, double origin = 0);

}  // namespace tutti
