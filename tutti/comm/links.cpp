// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/links.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/core/cache_file.h"
#include "tutti/core/cores.h"
#include "tutti/core/output_file.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;
Json to_json(const std::vector<LinkSample>& samples) {
  Json all = Json::array();
  for (const LinkSample& sample : samples)
    all.push_back({sample.bytes, sample.message_seconds, sample.add_seconds});
  return all;
}

std::vector<LinkSample> samples_in(const Json& machine, const char* link) {
  std::vector<LinkSample> samples;
  if (machine.contains(link))
    for (const Json& one : machine[link]) samples.push_back({one.at(0), one.at(1), one.at(2)});
  return samples;
}

std::string key_of(const std::string& transport) { return cpu_name() + ", " + transport; }

Json read_json(const std::string& path) {
  std::ifstream file(path);
  if (path.empty() || !file) return {{"version", version}, {"links", Json::object()}};
  try {
    Json json = Json::parse(file);
    if (json.at("version") != version || !json.at("links").is_object())
      throw Error("{} is of version {}, expected {}; remove it and run tutti calibrate again", path,
                  json.at("version").dump(), version);
    return json;
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} does not hold measured links ({}); remove it and run tutti calibrate again",
                path, error.what());
  }
}

MeasuredLinks links_in(const Json& machine) {
  return {samples_in(machine, "within"), samples_in(machine, "across"),
          samples_in(machine, "direct"), samples_in(machine, "staged"),
          machine.value("handling", 0.0)};
}

// Writes the kinds of links that were measured; entries of other kinds stay.
void add(Json& machine, const MeasuredLinks& links) {
  if (!links.within.empty()) machine["within"] = to_json(links.within);
  if (!links.across.empty()) {
    machine["across"] = to_json(links.across);
    machine["handling"] = links.handling_seconds_per_byte;
  }
  if (!links.direct.empty()) machine["direct"] = to_json(links.direct);
  if (!links.staged.empty()) machine["staged"] = to_json(links.staged);
}

// Copies rank 0's elements to all ranks.
void broadcast(Communicator& communicator, DType dtype, void* data, std::int64_t count) {
  const CollectiveArgs args{.dtype = dtype,
                            .count = count,
                            .tag = communicator.tags().of({.what = "measured links"}),
                            .what = "the broadcast of the measured links"};
  const auto operation = choose(broadcasts(), "auto", communicator, args).make(communicator, args);
  operation->start(data);
  wait(*operation, communicator);
}

std::string from_rank_0(Communicator& communicator, std::string text) {
  auto length = static_cast<std::int32_t>(text.size());
  broadcast(communicator, DType::i32, &length, 1);
  text.resize(static_cast<std::size_t>(length));
  broadcast(communicator, DType::u8, text.data(), length);
  return text;
}

}  // namespace

std::string links_file() { return cache_file("network.json"); }

MeasuredLinks read_links(const std::string& path, const std::string& transport) {
  const Json json = read_json(path);
  const auto found = json["links"].find(key_of(transport));
  if (found == json["links"].end()) return {};
  try {
    return links_in(*found);
  } catch (const nlohmann::json::exception& error) {
    throw Error("{} does not hold measured links ({}); remove it and run tutti calibrate again",
                path, error.what());
  }
}

void write_links(const std::string& path, const std::string& transport,
                 const MeasuredLinks& links) {
  if (path.empty())
    throw Error("there is no folder for the calibration: neither XDG_CACHE_HOME nor HOME is set");
  Json json = read_json(path);
  add(json["links"][key_of(transport)], links);
  const std::string text = json.dump(1) + "\n";
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  OutputFile file(path, OutputFile::Existing::replace);
  file.write(text.data(), static_cast<std::int64_t>(text.size()));
}

void use_measured_links(Communicator& communicator, const std::string& transport,
                        const std::string& path) {
  MeasuredLinks measured;
  try {
    if (communicator.rank() == 0) measured = read_links(path, transport);
  } catch (const Error&) {
    // As if nothing had been measured.
  }
  use_links(communicator, measured);
}

void use_links(Communicator& communicator, const MeasuredLinks& measured) {
  std::string text;
  if (communicator.rank() == 0) {
    Json json = Json::object();
    add(json, measured);
    text = json.dump();
  }
  const MeasuredLinks links = links_in(Json::parse(from_rank_0(communicator, std::move(text))));
  Network network = communicator.network();
  if (!links.within.empty()) network.within = link_of(links.within);
  if (!links.across.empty()) network.across = link_of(links.across);
  network.across.handling_seconds_per_byte = links.handling_seconds_per_byte;
  // Additions are always priced by the link within a node.
  if (links.within.empty() && !links.across.empty())
    network.within.seconds_per_added_byte = network.across.seconds_per_added_byte;
  network.direct = link_of(links.direct);
  network.staged = link_of(links.staged);
  communicator.set_network(network);
}

}  // namespace tutti
