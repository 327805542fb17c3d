// SPDX-License-Identifier: Apache-2.0
// What tutti calibrate has measured of the links between ranks, by machine and transport, as JSON
// in the user's cache folder (docs/communication.md).
#pragma once

#include "tutti/comm/communicator.h"

#include <string>
#include <vector>

namespace tutti {

// Samples of each kind of link, empty where it was not measured: between ranks of one node, between
// nodes, and the allreduces through shared memory (network.h).
struct MeasuredLinks {
  std::vector<LinkSample> within = {}, across = {}, direct = {}, staged = {};
  double handling_seconds_per_byte = 0;  // between nodes
};

// The path of tutti/network.json in the cache folder; "" without a home folder.
std::string links_file();

// What the file holds for this machine and transport; empty when it has nothing for them or does
// not exist. Throws Error when it can't be read.
MeasuredLinks read_links(const std::string& path, const std::string& transport);
// Adds these links to the file; they replace earlier samples of the same kinds.
void write_links(const std::string& path, const std::string& transport, const MeasuredLinks& links);

// Makes the communicators of all ranks reckon with the links that rank 0 has measured. Called on
// all ranks together.
void use_links(Communicator& communicator, const MeasuredLinks& measured);
// The same with the links in rank 0's file. A file that can't be read counts as empty;
// train/caches.h remarks on it.
void use_measured_links(Communicator& communicator, const std::string& transport,
                        const std::string& path);

}  // namespace tutti
