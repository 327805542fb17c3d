// SPDX-License-Identifier: Apache-2.0
// What the variants of an operator took, by sizes, threads and machine: a file of JSON lines in the
// user's cache folder. Processes append whole lines, so that they may do it at the same time; a
// line that does not read (torn by a crash, of another version) is passed over; of equal keys the
// last counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti {

struct VariantTime {
  std::string variant;
  double ms = 0;  // median, with the reorders that it needs
  std::int64_t scratch_bytes = 0;
};

using VariantTimes = std::map<std::string, std::vector<VariantTime>>;  // by key

// $XDG_CACHE_HOME/tutti/variants.jsonl, else ~/.cache/tutti/variants.jsonl; "" without a home.
std::string default_variant_cache();

// All entries; none when there is no such file.
VariantTimes read_variant_cache(const std::string& path);

// How many of its lines don't read.
std::int64_t unreadable_lines(const std::string& path);

// The entries in the contents of such a file.
VariantTimes variant_times_in(const std::string& text);

// Adds a line, making the folder if need be. Throws Error.
void append_variant_times(const std::string& path, const std::string& key,
                          const std::vector<VariantTime>& times);

}  // namespace tutti
