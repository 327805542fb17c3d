// SPDX-License-Identifier: Apache-2.0
// The measured times of the variants of an operator, by sizes, threads and machine, in a file of
// JSON lines in the user's cache folder. Processes append whole lines, so several may append at the
// same time. A line that can't be read (torn by a crash, or of another version) is ignored; of
// lines with equal keys the last counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti {

struct VariantTime {
  std::string variant;
  double ms = 0;  // median of several runs, with the reorders that the variant needs
  std::int64_t scratch_bytes = 0;
};

using VariantTimes = std::map<std::string, std::vector<VariantTime>>;  // by variant_key()

// $XDG_CACHE_HOME/tutti/variants.jsonl, else ~/.cache/tutti/variants.jsonl; "" without a home.
std::string default_variant_cache();

// All entries; none when there is no such file.
VariantTimes read_variant_cache(const std::string& path);

// How many lines of the file can't be read.
std::int64_t unreadable_lines(const std::string& path);

// The entries in `text`, the contents of such a file.
VariantTimes variant_times_in(const std::string& text);

// Adds a line, making the folder if need be. Throws Error.
void append_variant_times(const std::string& path, const std::string& key,
                          const std::vector<VariantTime>& times);

}  // namespace tutti
