// SPDX-License-Identifier: Apache-2.0
#include "tutti/report/page.h"

#include "tutti/report/sections.h"
#include "tutti/report/texts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tutti::report {
namespace {

// A JSON string for use within a script element, which "</script>" and "<!--" would end or change.
std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  std::string result;
  for (const char c : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
    result += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return result;
}

// ---- data of the charts ----

// A longer curve is thinned to its lowest and highest losses: a screen has no more columns.
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

std::string legend(const std::vector<Run>& runs) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i)
    html +=
        fmt::format("<label {}><input type=\"checkbox\" name=\"run\" checked><i></i>{}</label>\n",
                    color_of(i), escaped(runs[i].name));
  return html;
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
{summary}<h2>Curves</h2>
<div id="legend">
{legend}</div>
{controls}
<noscript><p>The charts need JavaScript; the tables don't.</p></noscript>
<main id="charts"></main>
{confusion}{timelines}{settings}<script type="application/json" id="runs">{data}</script>
<script>{script}{timeline_script}</script>
</body>
</html>
)",
                     fmt::arg("names", escaped(names)), fmt::arg("style", page_style),
                     fmt::arg("count", runs.size() == 1 ? escaped(runs[0].name)
                                                        : fmt::format("{} runs", runs.size())),
                     fmt::arg("legend", legend(runs)), fmt::arg("controls", controls),
                     fmt::arg("summary", summary_section(runs)),
                     fmt::arg("confusion", confusion_section(runs)),
                     fmt::arg("timelines", timeline_section(runs)),
                     fmt::arg("settings", settings_section(runs)), fmt::arg("data", data(runs)),
                     fmt::arg("script", page_script), fmt::arg("timeline_script", timeline_script));
}

}  // namespace tutti::report
