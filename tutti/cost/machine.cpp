// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/machine.h"

#include "tutti/core/cache_file.h"
#include "tutti/core/error.h"
#include "tutti/core/output_file.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;

Json to_json(const Calibration& calibration) {
  Json stream = Json::array(), classes = Json::object();
  for (const StreamSample& sample : calibration.stream)
    stream.push_back({sample.bytes, sample.seconds_per_byte});
  for (const auto& [name, samples] : calibration.classes)
    for (const TimeSample& sample : samples)
      classes[name].push_back(
          {{"at", sample.at}, {"units", sample.units}, {"seconds", sample.seconds}});
  return {{"multiply_adds_per_second", calibration.multiply_adds_per_second},
          {"bytes_per_second", calibration.bytes_per_second},
          {"fork_join_seconds", calibration.fork_join_seconds},
          {"stream", stream},
          {"classes", classes}};
}

Calibration calibration_of(const Json& json) {
  Calibration calibration{.multiply_adds_per_second = json.at("multiply_adds_per_second"),
                          .bytes_per_second = json.at("bytes_per_second"),
                          .fork_join_seconds = json.at("fork_join_seconds"),
                          .stream = {},
                          .classes = {}};
  for (const Json& pair : json.at("stream")) calibration.stream.push_back({pair.at(0), pair.at(1)});
  for (const auto& [name, samples] : json.at("classes").items())
    for (const Json& sample : samples)
      calibration.classes[name].push_back(
          {sample.at("at").get<std::vector<double>>(), sample.at("units"), sample.at("seconds")});
  return calibration;
}

// Whether predictions can use it: they divide by rates and times, and compare the places of a class
// with each other.
bool is_usable(const Calibration& calibration) {
  for (const auto& [name, samples] : calibration.classes)
    for (const TimeSample& sample : samples)
      if (!(sample.units > 0) || !(sample.seconds > 0) ||
          sample.at.size() != samples.front().at.size())
        return false;
  return calibration.multiply_adds_per_second > 0 && calibration.bytes_per_second > 0;
}

}  // namespace

const Calibration* Machine::with_threads(int threads) const {
  const auto found = by_threads.find(threads);
  return found == by_threads.end() ? nullptr : &found->second;
}

std::string machine_file() { return cache_file("machine.json"); }

std::optional<Machine> read_machine(const std::string& path) {
  std::ifstream file(path);
  if (path.empty() || !file) return std::nullopt;
  try {
    const Json json = Json::parse(file);
    if (json.at("version") != version)
      throw Error("{} is of version {}, expected {}; run tutti calibrate again", path,
                  json.at("version").dump(), version);
    Machine machine{.cpu = json.at("cpu"), .date = json.at("date"), .by_threads = {}};
    for (const auto& [threads, times] : json.at("threads").items()) {
      const int count = std::atoi(threads.c_str());
      const Calibration calibration = calibration_of(times);
      if (count < 1 || !is_usable(calibration))
        throw Error("{} is not a calibration (times with '{}' threads); run tutti calibrate again",
                    path, threads);
      machine.by_threads[count] = calibration;
    }
    return machine;
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} is not a calibration ({}); run tutti calibrate again", path, error.what());
  }
}

std::optional<Machine> known_machine() {
  try {
    return read_machine(machine_file());
  } catch (const Error&) {
    return std::nullopt;
  }
}

void write_machine(const std::string& path, const Machine& machine) {
  if (path.empty())
    throw Error("there is no folder for the calibration: neither XDG_CACHE_HOME nor HOME is set");
  Json threads = Json::object();
  for (const auto& [count, calibration] : machine.by_threads)
    threads[std::to_string(count)] = to_json(calibration);
  const std::string text =
      Json{{"version", version}, {"cpu", machine.cpu}, {"date", machine.date}, {"threads", threads}}
          .dump(1) +
      "\n";
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  OutputFile file(path, OutputFile::Existing::replace);
  file.write(text.data(), static_cast<std::int64_t>(text.size()));
}

}  // namespace tutti
