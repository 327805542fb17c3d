// SPDX-License-Identifier: Apache-2.0
// What tutti calibrate has measured of the links between ranks, by machine and transport, as JSON
// in the user's cache folder (docs/communication.md).
#pragma once

#include "tutti/comm/communicator.h"

#include <string>
#include <vector>

namespace tutti {

// Empty where it was not measured.
struct MeasuredLinks {
  std::vector<LinkSample> within = {}, across = {}, direct = {}, staged = {};
  double handling_seconds_per_byte = 0;  // across
};

// tutti/network.json in the cache folder; "" without a home.
std::string links_file();

// Of this machine; empty when there is no such file. Error when it can't be read.
MeasuredLinks read_links(const std::string& path, const std::string& transport);
// Adds to what is there, and replaces what was measured before.
void write_links(const std::string& path, const std::string& transport, const MeasuredLinks& links);

// Lets `communicator` expect what rank 0 has measured, or what it finds in its file; called on all
// ranks together.
// A file that can't be read is passed over; train/caches.h remarks on it.
void use_links(Communicator& communicator, const MeasuredLinks& measured);
void use_measured_links(Communicator& communicator, const std::string& transport,
                        const std::string& path);

}  // namespace tutti
