// SPDX-License-Identifier: Apache-2.0
// What the network takes for what: few classes as a matrix with shaded cells, many by the pairs
// that it confuses most.
#include "tutti/report/sections.h"
#include "tutti/report/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::report {
namespace {

constexpr std::size_t few_classes = 12;      // the matrix alone says it all
constexpr std::size_t matrix_classes = 100;  // beyond them a matrix can't be read
constexpr std::size_t most_pairs = 20;

struct Pair {
  std::size_t truth, said;
  double count, part;  // how many samples, and what part of the true class
};

double sum(const std::vector<double>& row) { return std::accumulate(row.begin(), row.end(), 0.0); }

std::vector<Pair> confused_pairs(const Confusion& confusion) {
  std::vector<Pair> pairs;
  for (std::size_t truth = 0; truth < confusion.counts.size(); ++truth) {
    const std::vector<double>& row = confusion.counts[truth];
    for (std::size_t said = 0; said < row.size(); ++said)
      if (said != truth && row[said] > 0)
        pairs.push_back({truth, said, row[said], row[said] / sum(row)});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.count > b.count; });
  return pairs;
}

std::string pairs_table(const Confusion& confusion) {
  const std::vector<Pair> pairs = confused_pairs(confusion);
  if (pairs.empty()) return "<p>No class is taken for another.</p>\n";
  const std::size_t shown = std::min(pairs.size(), most_pairs);
  std::string html = fmt::format(
      "<p>{}</p>\n", shown < pairs.size()
                         ? fmt::format("The {} pairs of {} that are confused most:", shown,
                                       whole(static_cast<double>(pairs.size())))
                         : "The pairs that are confused, most often first:");
  html +=
      "<table class=\"confused\"><thead><tr><th>true class</th><th>taken for</th><th>samples</th>"
      "<th>of that class</th></tr></thead><tbody>\n";
  for (std::size_t i = 0; i < shown; ++i)
    html += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        escaped(confusion.names[pairs[i].truth]),
                        escaped(confusion.names[pairs[i].said]), whole(pairs[i].count),
                        percent(pairs[i].part));
  return html + "</tbody></table>\n";
}

// A cell is shaded by its part of its row; right and wrong answers have different colours.
std::string matrix(const Confusion& confusion) {
  std::string html =
      "<div class=\"scroll\"><table class=\"matrix\"><thead><tr><th>true \\ said</th>";
  for (const std::string& name : confusion.names)
    html += fmt::format("<th><span>{}</span></th>", escaped(name));
  html += "<th><span>right</span></th></tr></thead><tbody>\n";
  for (std::size_t truth = 0; truth < confusion.counts.size(); ++truth) {
    const std::vector<double>& row = confusion.counts[truth];
    const double all = sum(row);
    html += fmt::format("<tr><th>{}</th>", escaped(confusion.names[truth]));
    for (std::size_t said = 0; said < row.size(); ++said) {
      if (row[said] > 0)
        html += fmt::format(
            "<td class=\"{}\" style=\"--part:{:.3f}\" title=\"{} taken for {}: {} of {}\">{}</td>",
            said == truth ? "right" : "wrong", row[said] / all, escaped(confusion.names[truth]),
            escaped(confusion.names[said]), whole(row[said]), whole(all), whole(row[said]));
      else
        html += "<td></td>";
    }
    html += fmt::format("<td>{}</td></tr>\n",
                        all > 0 ? fmt::format("{:.0f} %", 100 * row[truth] / all) : "");
  }
  return html + "</tbody></table></div>\n";
}

std::string card(const Run& run, std::size_t index) {
  const Confusion& confusion = run.confusion;
  std::string html =
      fmt::format("<section class=\"confusion\"><h3 {}><i></i>{}, step {:.0f}</h3>\n",
                  color_of(index), escaped(run.name), confusion.step);
  const std::size_t classes = confusion.names.size();
  if (classes > few_classes) html += pairs_table(confusion);
  if (classes <= few_classes)
    html += matrix(confusion);
  else if (classes <= matrix_classes)
    html += fmt::format("<details><summary>all {} classes</summary>{}</details>\n", classes,
                        matrix(confusion));
  return html + "</section>\n";
}

}  // namespace

std::string confusion_section(const std::vector<Run>& runs) {
  std::string cards;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!runs[i].confusion.counts.empty()) cards += card(runs[i], i);
  if (cards.empty()) return "";
  return "<h2>Confusion</h2>\n<p class=\"note\">How many test samples of each true class (rows) "
         "the "
         "network takes for which class (columns).</p>\n<div class=\"cells\">\n" +
         cards + "</div>\n";
}

}  // namespace tutti::report
