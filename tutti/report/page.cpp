// SPDX-License-Identifier: Apache-2.0
#include "tutti/report/page.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace tutti::report {
namespace {

// As text or as an attribute's value in double quotes.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  return result;
}

// Within a script element: "</script>" and "<!--" would end or change it.
std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  std::string result;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    result += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return result;
}

// ---- data of the charts ----

// A long curve as its lowest and highest losses: a screen has no more columns than this.
constexpr std::size_t most_points = 4000;

std::vector<Point> thinned(const std::vector<Point>& points) {
  if (points.size() <= most_points) return points;
  const auto lower = [](const Point& a, const Point& b) { return a.loss < b.loss; };
  std::vector<Point> kept;
  const std::size_t groups = most_points / 2;
  for (std::size_t group = 0; group < groups; ++group) {
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(points.size() * group / groups);
    const auto last =
        points.begin() + static_cast<std::ptrdiff_t>(points.size() * (group + 1) / groups);
    const auto [low, high] = std::minmax_element(first, last, lower);
    kept.push_back(*std::min(low, high));
    if (low != high) kept.push_back(*std::max(low, high));
  }
  return kept;
}

std::string curves(const std::vector<Point>& all) {
  const std::vector<Point> points = thinned(all);
  static const std::pair<const char*, double Point::*> columns[] = {
      {"step", &Point::step},
      {"samples", &Point::samples},
      {"seconds", &Point::seconds},
      {"loss", &Point::loss},
      {"accuracy", &Point::accuracy},
      {"absolute_error", &Point::absolute_error},
      {"gradient_norm", &Point::gradient_norm},
      {"rate", &Point::rate},
      {"samples_per_second", &Point::samples_per_second},
      {"sent_bytes", &Point::sent_bytes}};
  std::string result;
  for (const auto& [name, member] : columns) {
    result += fmt::format("{}\"{}\":[", result.empty() ? "{" : ",", name);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double value = points[i].*member;
      result += i > 0 ? "," : "";
      result += std::isfinite(value) ? fmt::format("{:.9g}", value) : "null";
    }
    result += "]";
  }
  return result + "}";
}

// Rows of rank, is message, lane, name, detail, start, seconds, bytes.
std::string spans(const std::vector<Span>& timeline) {
  std::string result;
  for (const Span& span : timeline)
    result += fmt::format("{}[{},{},{},{},{},{:.9g},{:.9g},{:.0f}]", result.empty() ? "" : ",\n",
                          span.rank, span.message ? 1 : 0, span.lane, quoted(span.name),
                          quoted(span.detail), span.start, span.seconds, span.bytes);
  return "[" + result + "]";
}

std::string data(const std::vector<Run>& runs) {
  std::string result;
  for (const Run& run : runs)
    result += fmt::format("{}{{\"name\":{},\"training\":{},\"test\":{},\"timeline\":{}}}",
                          result.empty() ? "[" : ",\n", quoted(run.name), curves(run.training),
                          curves(run.test), spans(run.timeline));
  return result + "]";
}

// ---- numbers as people read them; unknown ones are empty ----

std::string plain(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : ""; }
std::string percent(double value) {
  return std::isfinite(value) ? fmt::format("{:.2f} %", 100 * value) : "";
}
std::string whole(double value) {
  if (!std::isfinite(value)) return "";
  std::string digits = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), "\u2009");  // a thin space
  return digits;
}
// Nothing for a run that sent nothing.
std::string bytes(double count) {
  if (!std::isfinite(count) || count == 0) return "";
  if (count >= 1e9) return fmt::format("{:.4g} GB", count * 1e-9);
  return count >= 1e6 ? fmt::format("{:.4g} MB", count * 1e-6)
                      : fmt::format("{:.4g} kB", count * 1e-3);
}
std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "";
  if (seconds < 60) return fmt::format("{:.2f} s", seconds);
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  if (minutes < 60)
    return fmt::format("{} min {:.0f} s", minutes,
                       std::floor(seconds) - 60. * static_cast<double>(minutes));
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

// ---- tables ----

std::string color(std::size_t run) { return fmt::format("style=\"--c:var(--c{})\"", run % 8); }

struct Column {
  std::string title;
  std::function<std::string(const Run&)> text;
};

std::vector<Column> summary_columns(const std::vector<Run>& runs) {
  const auto tested = [](double Point::*member) {
    return
        [member](const Run& run) { return run.test.empty() ? unknown : run.test.back().*member; };
  };
  const auto best_accuracy = [](const Run& run) {
    double best = unknown;
    for (const Point& at : run.test) best = std::fmax(best, at.accuracy);
    return best;
  };
  std::vector<Column> columns = {
      {"steps", [](const Run& run) { return whole(run.last.step); }},
      {"time", [](const Run& run) { return duration(run.last.seconds); }},
      {"samples/s", [](const Run& run) { return whole(run.last.samples_per_second); }},
      {"sent", [](const Run& run) { return bytes(run.sent_bytes); }},
      {"loss", [](const Run& run) { return plain(run.last.loss); }},
      {"accuracy", [](const Run& run) { return percent(run.last.accuracy); }},
      {"absolute error", [](const Run& run) { return plain(run.last.absolute_error); }},
      {"test loss", [=](const Run& run) { return plain(tested(&Point::loss)(run)); }},
      {"test accuracy", [=](const Run& run) { return percent(tested(&Point::accuracy)(run)); }},
      {"best test accuracy", [=](const Run& run) { return percent(best_accuracy(run)); }},
      {"test absolute error",
       [=](const Run& run) { return plain(tested(&Point::absolute_error)(run)); }},
  };
  std::map<std::string, int> others;
  for (const Run& run : runs)
    for (const auto& [name, value] : run.numbers) others[name] = 0;
  for (const auto& [name, unused] : others) {
    std::string title = name;
    std::replace(title.begin(), title.end(), '_', ' ');
    columns.push_back({title, [key = name](const Run& run) {
                         for (const auto& [other, value] : run.numbers)
                           if (other == key) return value < 1000 ? plain(value) : whole(value);
                         return std::string();
                       }});
  }
  columns.push_back({"state", [](const Run& run) { return run.state; }});
  std::erase_if(columns, [&](const Column& column) {
    return std::all_of(runs.begin(), runs.end(),
                       [&](const Run& run) { return column.text(run).empty(); });
  });
  return columns;
}

std::string cell(const std::string& label, const std::string& text, const char* kind = "") {
  return fmt::format("<td{} data-label=\"{}\">{}</td>", kind, escaped(label),
                     text.empty() ? "–" : escaped(text));
}

std::string summary_table(const std::vector<Run>& runs) {
  const std::vector<Column> columns = summary_columns(runs);
  std::string html = "<table><thead><tr><th>run</th>";
  for (const Column& column : columns) html += "<th>" + escaped(column.title) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    html += fmt::format("<tr><th {} title=\"{}\"><i></i>{}</th>", color(i), escaped(runs[i].path),
                        escaped(runs[i].name));
    for (const Column& column : columns) html += cell(column.title, column.text(runs[i]));
    html += "</tr>\n";
  }
  return html + "</tbody></table>";
}

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

// What differs stands first, with the values that are not the first run's marked; what all runs
// share needs one column.
std::string settings_tables(const std::vector<Run>& runs) {
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
  std::string html;
  if (!differing.empty()) {
    html += "<h3>where the runs differ</h3><div class=\"wide\"><table><thead><tr><th>setting</th>";
    for (std::size_t i = 0; i < runs.size(); ++i)
      html += fmt::format("<th {}><i></i>{}</th>", color(i), escaped(runs[i].name));
    html += "</tr></thead><tbody>\n" + differing + "</tbody></table></div>";
  }
  return html + fmt::format(
                    "<details{}><summary>{}</summary><table class=\"pairs\"><tbody>\n{}"
                    "</tbody></table></details>",
                    runs.size() == 1 ? " open" : "",
                    runs.size() == 1 ? fmt::format("all {}", shared_count)
                                     : fmt::format("{} that all runs share", shared_count),
                    shared);
}

std::string legend(const std::vector<Run>& runs) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i)
    html +=
        fmt::format("<label {}><input type=\"checkbox\" name=\"run\" checked><i></i>{}</label>\n",
                    color(i), escaped(runs[i].name));
  return html;
}

// Where the script draws what ranks did in one step, and what it is about.
std::string timelines(const std::vector<Run>& runs) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].timeline.empty()) continue;
    html += fmt::format(
        "<section class=\"timeline\" data-run=\"{}\"><h3 {}><i></i>{}, step {:.0f}</h3>"
        "<div class=\"rows\"></div><p class=\"told\"></p><div class=\"sums\"></div></section>\n",
        i, color(i), escaped(runs[i].name), runs[i].timeline_step);
  }
  return html.empty() ? "" : "<h2>Time line of a step</h2>\n" + html;
}

constexpr const char* controls = R"(<form id="controls">
<fieldset class="switch"><legend>over</legend>
<label><input type="radio" name="x" value="step" checked><span>steps</span></label>
<label><input type="radio" name="x" value="samples"><span>samples</span></label>
<label><input type="radio" name="x" value="seconds"><span>time</span></label>
</fieldset>
<label><input type="checkbox" name="smooth" checked>smooth</label>
<label><input type="checkbox" name="log">logarithmic loss</label>
<span class="key"><svg width="28" height="10"><path class="line" d="M1 5h26"/></svg>training</span>
<span class="key"><svg width="28" height="10"><path class="line test" d="M1 5h26"/><circle cx="14" cy="5" r="3"/></svg>test</span>
</form>)";

}  // namespace

std::string page(const std::vector<Run>& runs) {
  std::string names;
  for (const Run& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  return fmt::format(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tutti: {names}</title>
<style>{style}</style>
</head>
<body>
<h1>{count}</h1>
<div id="legend">
{legend}</div>
{controls}
<noscript><p>The charts need JavaScript; the tables don't.</p></noscript>
<main id="charts"></main>
{timelines}<h2>Summary</h2>
<div class="wide summary">{summary}</div>
<h2>Settings</h2>
{settings}
<script type="application/json" id="runs">{data}</script>
<script>{script}</script>
</body>
</html>
)",
                     fmt::arg("names", escaped(names)), fmt::arg("style", page_style),
                     fmt::arg("count", runs.size() == 1 ? escaped(runs[0].name)
                                                        : fmt::format("{} runs", runs.size())),
                     fmt::arg("legend", legend(runs)), fmt::arg("controls", controls),
                     fmt::arg("timelines", timelines(runs)),
                     fmt::arg("summary", summary_table(runs)),
                     fmt::arg("settings", settings_tables(runs)), fmt::arg("data", data(runs)),
                     fmt::arg("script", page_script));
}

}  // namespace tutti::report
