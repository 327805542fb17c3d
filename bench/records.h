// SPDX-License-Identifier: Apache-2.0
// Measurements as JSON lines, which are printed and written to a file as they are made; the table
// is made from them.
#pragma once

#include "tutti/core/record.h"

#include "bench/spread.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tutti::bench {

// The work of one execution, for rates and fractions of the peak.
struct Work {
  double flops = 0, bytes = 0;
};

// The highest rates that the machine reaches with a number of threads.
struct Peak {
  double flops_per_second = 0, bytes_per_second = 0;
};

class Records {
 public:
  explicit Records(const std::string& json_path)
      : file_(json_path, OutputFile::Existing::replace) {}

  // Writes a line that is not a measurement.
  void note(const nlohmann::ordered_json& line) { keep(line); }
  // Writes a measured time; `ms`: milliseconds per execution.
  void time(const std::string& name, const Spread& ms, const Work& work, const Peak& peak,
            double round_trip_ns, nlohmann::ordered_json more = {});
  // Writes a comparison; `ratio`: how many times as long (or as much) the second side needs as the
  // first, which is the side that is judged.
  void ratio(const std::string& name, const Spread& ratio, double round_trip_ns,
             nlohmann::ordered_json more = {});
  void print_table() const;

 private:
  void keep(const nlohmann::ordered_json& line);

  RecordWriter file_;
  std::vector<nlohmann::ordered_json> times_, ratios_;
};

}  // namespace tutti::bench
