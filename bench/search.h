// SPDX-License-Identifier: Apache-2.0
// The fastest way to run a peer, sought one setting at a time: each alternative of a setting is
// timed with the others as they have been best so far. That is a few trials where all combinations
// would be hundreds.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

// One alternative of a setting: what is said of it, and what the peer is told.
struct Alternative {
  std::string text = {};  // none: as the peer is by itself
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

struct Trial {
  Way way;
  double ms = 0;
};

// All ways that were tried, the fastest first. `order`: the settings in the order in which they are
// sought; one may come again, when others have been found. `time` answers infinity for a way that
// does not work here.
std::vector<Trial> search(const std::vector<std::vector<Alternative>>& settings,
                          const std::vector<std::size_t>& order,
                          const std::function<double(const Way&)>& time);

}  // namespace tutti::bench
