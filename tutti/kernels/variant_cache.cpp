// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/variant_cache.h"

#include "tutti/core/cache_file.h"
#include "tutti/core/error.h"
#include "tutti/core/output_file.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace tutti {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Adds what a line says to `all`; false when the line can't be read.
bool read_line(const std::string& line, VariantTimes& all) {
  try {
    const auto json = nlohmann::json::parse(line);
    std::vector<VariantTime> times;
    for (const auto& time : json.at("times"))
      times.push_back({time.at("variant"), time.at("ms"), time.at("scratch_bytes")});
    all[json.at("key").get<std::string>()] = std::move(times);
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

}  // namespace

std::string default_variant_cache() { return cache_file("variants.jsonl"); }

VariantTimes read_variant_cache(const std::string& path) {
  return variant_times_in(contents(path));
}

std::int64_t unreadable_lines(const std::string& path) {
  VariantTimes all;
  std::istringstream lines(contents(path));
  std::int64_t count = 0;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !read_line(line, all)) ++count;
  return count;
}

VariantTimes variant_times_in(const std::string& text) {
  VariantTimes all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) read_line(line, all);
  return all;
}

void append_variant_times(const std::string& path, const std::string& key,
                          const std::vector<VariantTime>& times) {
  nlohmann::ordered_json line{{"key", key}, {"times", nlohmann::ordered_json::array()}};
  for (const VariantTime& time : times)
    line["times"].push_back(
        {{"variant", time.variant}, {"ms", time.ms}, {"scratch_bytes", time.scratch_bytes}});
  std::error_code ignored;  // opening the file reports a better error
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  // The leading line break keeps the entry on a line of its own even behind a torn line.
  const std::string text = "\n" + line.dump() + "\n";
  OutputFile(path, OutputFile::Existing::append)
      .write(text.data(), static_cast<std::int64_t>(text.size()));
}

}  // namespace tutti
