// SPDX-License-Identifier: Apache-2.0
#include "bench/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tutti::bench {
namespace {

using Json = nlohmann::ordered_json;

// The number under `key` in a table's cell, scaled; blank where there is none.
std::string cell(const Json& line, const char* key, double scale, int decimals) {
  if (!line.contains(key)) return "";
  return fmt::format("{:.{}f}", line[key].get<double>() * scale, decimals);
}

}  // namespace

void Records::keep(const Json& line) {
  std::puts(line.dump().c_str());
  std::fflush(stdout);
  file_.write(line);
}

void Records::time(const std::string& name, const Spread& ms, const Work& work, const Peak& peak,
                   double round_trip_ns, Json more) {
  Json line{{"name", name},
            {"ms", ms.median},
            {"ms_min", ms.min},
            {"ms_low", ms.low},
            {"ms_high", ms.high}};
  const double seconds = ms.median / 1e3;
  if (work.flops > 0 && seconds > 0) {
    line["gflops"] = work.flops / seconds / 1e9;
    if (peak.flops_per_second > 0)
      line["flops_of_peak"] = work.flops / seconds / peak.flops_per_second;
  }
  if (work.bytes > 0 && seconds > 0) {
    line["bytes_per_second"] = work.bytes / seconds;
    if (peak.bytes_per_second > 0)
      line["bytes_of_peak"] = work.bytes / seconds / peak.bytes_per_second;
  }
  line["round_trip_ns"] = round_trip_ns;
  if (!more.empty()) line.update(more);
  keep(line);
  times_.push_back(std::move(line));
}

void Records::ratio(const std::string& name, const Spread& ratio, double round_trip_ns, Json more) {
  Json line{{"name", name},
            {"ratio", ratio.median},
            {"ratio_low", ratio.low},
            {"ratio_high", ratio.high},
            {"round_trip_ns", round_trip_ns}};
  if (!more.empty()) line.update(more);
  keep(line);
  ratios_.push_back(std::move(line));
}

void Records::print_table() const {
  std::size_t wide = 70;  // bytes: more than the letters
  for (const std::vector<Json>& lines : {times_, ratios_})
    for (const Json& line : lines)
      wide = std::max(wide, line["name"].get<std::string>().size() + 1);
  if (!times_.empty())
    fmt::print("\n{:<{}}{:>10}{:>10}{:>18}{:>9}{:>9}{:>8}{:>9}{:>8}\n", "", wide, "ms", "min",
               "quartiles", "GFLOP/s", "of peak", "GB/s", "of copy", "ping ns");
  for (const Json& line : times_) {
    const std::string quartiles = cell(line, "ms_low", 1, 3) + "–" + cell(line, "ms_high", 1, 3);
    fmt::print("{:<{}}{:>10}{:>10}{:>18}{:>9}{:>9}{:>8}{:>9}{:>8}\n",
               line["name"].get<std::string>(), wide, cell(line, "ms", 1, 3),
               cell(line, "ms_min", 1, 3), quartiles, cell(line, "gflops", 1, 1),
               cell(line, "flops_of_peak", 1, 2), cell(line, "bytes_per_second", 1e-9, 1),
               cell(line, "bytes_of_peak", 1, 2), cell(line, "round_trip_ns", 1, 0));
  }
  if (!ratios_.empty())
    fmt::print("\n{:<{}}{:>10}{:>18}{:>9}\n", "ratio", wide, "median", "quartiles", "ping ns");
  for (const Json& line : ratios_) {
    const std::string quartiles =
        cell(line, "ratio_low", 1, 2) + "–" + cell(line, "ratio_high", 1, 2);
    fmt::print("{:<{}}{:>10}{:>18}{:>9}\n", line["name"].get<std::string>(), wide,
               cell(line, "ratio", 1, 2), quartiles, cell(line, "round_trip_ns", 1, 0));
  }
}

}  // namespace tutti::bench
