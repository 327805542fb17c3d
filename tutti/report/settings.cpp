// SPDX-License-Identifier: Apache-2.0
// The settings of the runs. Those that differ stand first, and values that are not the first run's
// are marked; settings that all runs share need one column.
#include "tutti/report/sections.h"
#include "tutti/report/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace tutti::report {
namespace {

struct Setting {
  std::string name;
  std::vector<std::string> values;  // of each run; empty where it has none
  bool differs() const {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end();
  }
};

std::vector<Setting> settings_of(const std::vector<Run>& runs) {
  std::vector<Setting> settings;
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const auto& [name, value] : runs[i].settings) {
      if (place.try_emplace(name, settings.size()).second)
        settings.push_back({name, std::vector<std::string>(runs.size())});
      settings[place[name]].values[i] = value.empty() ? "\"\"" : value;
    }
  return settings;
}

std::string cell(const std::string& label, const std::string& text, const char* kind = "") {
  return fmt::format("<td{} data-label=\"{}\">{}</td>", kind, escaped(label),
                     text.empty() ? "–" : escaped(text));
}

}  // namespace

std::string settings_section(const std::vector<Run>& runs) {
  std::string differing, shared;
  int shared_count = 0;
  for (const Setting& setting : settings_of(runs)) {
    const std::string row = "<tr><th>" + escaped(setting.name) + "</th>";
    if (!setting.differs()) {
      shared += row + cell("", setting.values[0]) + "</tr>\n";
      ++shared_count;
      continue;
    }
    differing += row;
    for (std::size_t i = 0; i < runs.size(); ++i)
      differing += cell(runs[i].name, setting.values[i],
                        setting.values[i] == setting.values[0] ? "" : " class=\"differs\"");
    differing += "</tr>\n";
  }
  std::string html = "<h2>Settings</h2>\n";
  if (!differing.empty()) {
    html +=
        "<h3>where the runs differ; what is not as in the first is marked</h3>"
        "<div class=\"wide runs\"><table><thead><tr><th>setting</th>";
    for (std::size_t i = 0; i < runs.size(); ++i)
      html += fmt::format("<th {}><i></i>{}</th>", color_of(i), escaped(runs[i].name));
    html += "</tr></thead><tbody>\n" + differing + "</tbody></table></div>";
  }
  return html + fmt::format(
                    "<details{}><summary>{}</summary><table class=\"pairs\"><tbody>\n{}"
                    "</tbody></table></details>\n",
                    runs.size() == 1 ? " open" : "",
                    runs.size() == 1 ? fmt::format("all {}", shared_count)
                                     : fmt::format("{} that all runs share", shared_count),
                    shared);
}

}  // namespace tutti::report
