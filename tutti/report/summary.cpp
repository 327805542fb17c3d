// SPDX-License-Identifier: Apache-2.0
// What came out of the runs: a row for each, what the columns mean, and the remarks of the runs.
#include "tutti/report/sections.h"
#include "tutti/report/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace tutti::report {
namespace {

struct Column {
  std::string title, meaning;
  std::function<std::string(const Run&)> text;
};

// Titles and meanings of further numbers in the summary line of a record.
struct Meaning {
  const char *name, *title, *meaning;
};
constexpr Meaning meanings[] = {
    {"planned_bytes", "memory planned",
     "parameters, optimizer state and activations of the ranks in the process of rank 0"},
    {"grown_bytes", "memory grown", "by how much that process grew at most"},
    {"skipped_steps", "skipped steps", "left out since their gradients were not finite"}};

Column other_column(const std::string& name) {
  const bool counts_bytes = name.find("bytes") != std::string::npos;
  Column column{
      name, "", [=](const Run& run) {
        for (const auto& [other, value] : run.numbers)
          if (other == name)
            return counts_bytes ? bytes(value) : value < 1000 ? plain(value) : whole(value);
        return std::string();
      }};
  std::replace(column.title.begin(), column.title.end(), '_', ' ');
  for (const Meaning& known : meanings)
    if (known.name == name) column.title = known.title, column.meaning = known.meaning;
  return column;
}

std::vector<Column> columns_of(const std::vector<Run>& runs) {
  const auto last = [](double Point::*member) {
    return [member](const Run& run) { return run.last.*member; };
  };
  const auto tested = [](double Point::*member) {
    return
        [member](const Run& run) { return run.test.empty() ? unknown : run.test.back().*member; };
  };
  const auto best_accuracy = [](const Run& run) {
    double best = unknown;
    for (const Point& at : run.test) best = std::fmax(best, at.accuracy);
    return best;
  };
  const auto as = [](std::string (*text)(double), auto value) {
    return [=](const Run& run) { return text(value(run)); };
  };
  std::vector<Column> columns = {
      {"steps", "updates done", as(whole, last(&Point::step))},
      {"time", "of the whole run, evaluations and checkpoints included",
       as(duration, last(&Point::seconds))},
      {"samples/s", "training samples per second, while steps ran",
       as(whole, last(&Point::samples_per_second))},
      {"sent", "by rank 0 to other ranks, in the whole run; 1 kB is 1000 bytes (B), 1 MB 1000 kB",
       as(bytes, [](const Run& run) { return run.sent_bytes; })},
      {"loss", "of the last step, mean over its samples", as(plain, last(&Point::loss))},
      {"accuracy", "of the last step: how many of its samples were told right",
       as(percent, last(&Point::accuracy))},
      {"absolute error", "of the last step: mean distance from the targets, in their unit",
       as(plain, last(&Point::absolute_error))},
      {"test loss", "mean over the test samples, when they were last evaluated",
       as(plain, tested(&Point::loss))},
      {"test accuracy", "how many of the test samples were told right then",
       as(percent, tested(&Point::accuracy))},
      {"best test accuracy", "of all evaluations", as(percent, best_accuracy)},
      {"test absolute error", "mean distance from the targets of the test samples, in their unit",
       as(plain, tested(&Point::absolute_error))},
  };
  std::map<std::string, int> others;
  for (const Run& run : runs)
    for (const auto& [name, value] : run.numbers) others[name] = 0;
  for (const auto& [name, unused] : others) columns.push_back(other_column(name));
  columns.push_back({"state", "what ended the run", [](const Run& run) { return run.state; }});
  std::erase_if(columns, [&](const Column& column) {
    return std::all_of(runs.begin(), runs.end(),
                       [&](const Run& run) { return column.text(run).empty(); });
  });
  return columns;
}

std::string table(const std::vector<Run>& runs, const std::vector<Column>& columns) {
  std::string html = "<table><thead><tr><th>run</th>";
  for (const Column& column : columns)
    html += fmt::format("<th title=\"{}\">{}</th>", escaped(column.meaning), escaped(column.title));
  html += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    html += fmt::format("<tr><th {} title=\"{}\"><i></i>{}</th>", color_of(i),
                        escaped(runs[i].path), escaped(runs[i].name));
    for (const Column& column : columns) {
      const std::string text = column.text(runs[i]);
      html += fmt::format("<td{} data-label=\"{}\">{}</td>", text.empty() ? " class=\"none\"" : "",
                          escaped(column.title), text.empty() ? "–" : escaped(text));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>";
}

std::string remarks(const std::vector<Run>& runs) {
  std::string html;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const std::string& remark : runs[i].remarks)
      html += fmt::format("<li {}><i></i>{}: {}</li>\n", color_of(i), escaped(runs[i].name),
                          escaped(remark));
  return html.empty() ? "" : "<ul class=\"remarks\">\n" + html + "</ul>\n";
}

}  // namespace

std::string summary_section(const std::vector<Run>& runs) {
  const std::vector<Column> columns = columns_of(runs);
  std::string terms;
  for (const Column& column : columns)
    if (!column.meaning.empty())
      terms +=
          fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(column.title), escaped(column.meaning));
  return fmt::format(
      "<h2>Summary</h2>\n<div class=\"wide summary\">{}</div>\n{}"
      "<details><summary>what the columns mean</summary><dl>\n{}</dl></details>\n",
      table(runs, columns), remarks(runs), terms);
}

}  // namespace tutti::report
