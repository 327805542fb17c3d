// SPDX-License-Identifier: Apache-2.0
// What the record of one run says, as plain values; NaN where it says nothing.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tutti::report {

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// A line of kind "step" (a minibatch) or "evaluation" (the test set).
struct Point {
  double step = unknown, samples = unknown, seconds = unknown;  // done so far, resumed runs added
  double loss = unknown, accuracy = unknown, absolute_error = unknown;
  double gradient_norm = unknown, rate = unknown, samples_per_second = unknown;
  double sent_bytes = unknown;  // by rank 0 to others, in the step
};

// What a rank did in the step of a time line; times are in seconds since the step began.
struct Span {
  int rank = 0;
  bool message = false;
  int lane = 0;  // messages that overlap are in different lanes
  std::string name, detail;
  double start = 0, seconds = 0, bytes = 0;
};

// Confusion of classes on the test set: counts[true class][class that the network says].
struct Confusion {
  double step = unknown;
  std::vector<std::string> names;
  std::vector<std::vector<double>> counts;  // none: the record has no such line
};

struct Run {
  std::string name;  // of its folder or file
  std::string path;
  // "table.key" and its value, in the order of the record.
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<Point> training, test;
  double sent_bytes = unknown;  // by rank 0 to others, in the whole run; known when it has ended
  double timeline_step = unknown;
  std::vector<double> timeline_seconds;  // of all timed steps; the time line shows the median
  std::vector<Span> timeline;
  Confusion confusion;               // the last one
  std::vector<std::string> remarks;  // in the order of the record
  Point last;         // the last step; once the run has ended, with the speed of the whole run
  std::string state;  // why the run ended; "no end in the record" while it goes on
  // Other numbers of the summary.
  std::vector<std::pair<std::string, double>> numbers;
};

}  // namespace tutti::report
