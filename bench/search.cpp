// SPDX-License-Identifier: Apache-2.0
#include "bench/search.h"

#include <algorithm>

namespace tutti::bench {

std::string Way::text() const {
  std::string all;
  for (const Alternative& one : chosen)
    if (!one.text.empty()) all += (all.empty() ? "" : ", ") + one.text;
  return all.empty() ? "as it is by itself" : all;
}

std::vector<std::string> Way::arguments() const {
  std::vector<std::string> all;
  for (const Alternative& one : chosen)
    all.insert(all.end(), one.arguments.begin(), one.arguments.end());
  return all;
}

std::map<std::string, std::string> Way::environment() const {
  std::map<std::string, std::string> all;
  for (const Alternative& one : chosen) all.insert(one.environment.begin(), one.environment.end());
  return all;
}

std::vector<Trial> search(const std::vector<std::vector<Alternative>>& settings,
                          const std::vector<std::size_t>& order,
                          const std::function<double(const Way&)>& time) {
  Way first;
  for (const std::vector<Alternative>& setting : settings) first.chosen.push_back(setting.front());
  std::vector<Trial> trials;
  const auto tried = [&](const Way& way) {
    const auto known = std::find_if(trials.begin(), trials.end(), [&](const Trial& trial) {
      return trial.way.text() == way.text();
    });
    return known != trials.end() ? *known : trials.emplace_back(Trial{way, time(way)});
  };
  Trial best = tried(first);
  for (const std::size_t which : order)
    for (const Alternative& alternative : settings[which]) {
      Way way = best.way;
      way.chosen[which] = alternative;
      if (const Trial trial = tried(way); trial.ms < best.ms) best = trial;
    }
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial& a, const Trial& b) { return a.ms < b.ms; });
  return trials;
}

}  // namespace tutti::bench
