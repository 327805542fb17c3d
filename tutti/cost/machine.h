// SPDX-License-Identifier: Apache-2.0
// What was measured of a machine, once: times of operators at many sizes, with one thread and with
// all. It is kept in the user's cache folder as JSON, which docs/cost.md describes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

// The time of one execution of an operator, at a place in the space of its class.
struct TimeSample {
  std::vector<double> at;  // logarithms of sizes
  double units = 0;        // multiply–adds or bytes
  double seconds = 0;
};

// Seconds per byte of a repeated copy that reads and writes `bytes` bytes in all: the more bytes,
// the farther is the cache that holds them.
struct StreamSample {
  double bytes = 0, seconds_per_byte = 0;
};

// What was measured with one number of threads.
struct Calibration {
  double multiply_adds_per_second = 0;  // of the fastest product
  double bytes_per_second = 0;          // of a copy beyond all caches, read and write together
  double fork_join_seconds = 0;         // a point-wise operator on a handful of elements
  std::vector<StreamSample> stream;     // ascending
  std::map<std::string, std::vector<TimeSample>> classes;  // by NodeClass::name
};

struct Machine {
  std::string cpu, date;
  std::map<int, Calibration> by_threads = {};

  // nullptr when this number of threads was not measured.
  const Calibration* with_threads(int threads) const;
};

// $XDG_CACHE_HOME/tutti/machine.json, else ~/.cache/tutti/machine.json; "" without a home.
std::string machine_file();

// Nothing when there is no such file; Error when it can't be read.
std::optional<Machine> read_machine(const std::string& path);
// What machine_file() holds; nothing also when it can't be read, which train/caches.h remarks on.
std::optional<Machine> known_machine();
// Makes the folder if need be.
void write_machine(const std::string& path, const Machine& machine);

}  // namespace tutti
