// SPDX-License-Identifier: Apache-2.0
// Searches for the fastest way to run a peer, one setting at a time: each alternative of a setting
// is timed while the other settings have their best alternatives so far. That takes a few trials,
// where all combinations would be hundreds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

// One alternative of a setting: its text in reports, and the arguments and environment that it
// gives the peer.
struct Alternative {
  std::string text = {};  // empty: the peer's default
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};
};

// A choice of one alternative of each setting.
struct Way {
  std::vector<Alternative> chosen;

  std::string text() const;  // "as it is by itself", or the texts of what was chosen
  std::vector<std::string> arguments() const;
  std::map<std::string, std::string> environment() const;
};

// A way that was tried, and the time of a step.
struct Trial {
  Way way;
  double ms = 0;
};

// Returns all ways that were tried, the fastest first. `order` lists the settings in the order in
// which they are searched; a setting may occur again, to be searched once more after others have
// changed. `time` returns infinity for a way that does not work here.
std::vector<Trial> search(const std::vector<std::vector<Alternative>>& settings,
                          const std::vector<std::size_t>& order,
                          const std::function<double(const Way&)>& time);

}  // namespace tutti::bench
