// SPDX-License-Identifier: Apache-2.0
#include "tutti/report/page.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tutti::report {
namespace {

Run sample(const std::string& name) {
  Run run;
  run.name = name;
  run.path = "runs/" + name + "/record.jsonl";
  run.settings = {{"optimizer.rate", "0.5"}, {"train.seed", "1"}};
  run.training = {{.step = 1, .samples = 10, .seconds = 0.5, .loss = 2.5, .accuracy = 0.125},
                  {.step = 2, .samples = 20, .seconds = 1.0, .accuracy = 0.25}};
  run.test = {{.step = 2, .samples = 20, .seconds = 1.0, .loss = 1.75, .accuracy = 0.375}};
  run.last = {.step = 12345, .seconds = 83, .loss = 1.5, .accuracy = 0.5};
  run.state = "ended by steps";
  return run;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

nlohmann::json data_of(const std::string& html) {
  const std::string begin = R"(id="runs">)";
  const std::size_t at = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

TEST(Page, HoldsTheCurves) {
  const nlohmann::json data = data_of(page({sample("a"), sample("b")}));
  ASSERT_EQ(data.size(), 2u);
  EXPECT_EQ(data[0]["name"], "a");
  EXPECT_EQ(data[0]["training"]["step"], nlohmann::json({1, 2}));
  EXPECT_EQ(data[0]["training"]["samples"], nlohmann::json({10, 20}));
  EXPECT_EQ(data[0]["training"]["seconds"], nlohmann::json({0.5, 1.0}));
  EXPECT_EQ(data[0]["training"]["loss"], nlohmann::json({2.5, nullptr}));
  EXPECT_EQ(data[1]["test"]["accuracy"][0], 0.375);
}

TEST(Page, Summary) {
  report::Run run = sample("a");
  run.numbers = {{"planned_bytes", 4.5e6}, {"retries", 4096}};
  run.remarks = {"resumed <once>"};
  const std::string html = page({run});
  for (const char* part :
       {"12\u2009345", "1 min 23 s", "50.00 %", "37.50 %", "ended by steps", "memory planned",
        "4.5 MB", "retries", "4\u2009096", "a: resumed &lt;once&gt;", "<dt>steps</dt>"})
    EXPECT_TRUE(has(html, part)) << part;
  EXPECT_FALSE(has(html, ">absolute error</th>"));  // no run has one
  EXPECT_LT(html.find("<h2>Summary"), html.find("id=\"legend\""));
}

TEST(Page, TimelinesSayOfWhichStepsTheyAreTheMedian) {
  report::Run run = sample("a");
  run.timeline_step = 4;
  run.timeline_seconds = {0.003, 0.009, 0.004};
  run.timeline = {{.name = "relu", .detail = "", .start = 0.001, .seconds = 0.003}};
  EXPECT_TRUE(has(page({run}), "a, step 4: 4 ms, the median of 3 steps of 3 ms to 9 ms</h3>"));
}

Confusion confusion_of(std::size_t classes) {
  Confusion confusion{
      .step = 7, .names = {}, .counts = {classes, std::vector<double>(classes, 0.0)}};
  for (std::size_t i = 0; i < classes; ++i) {
    confusion.names.push_back("class " + std::to_string(i));
    confusion.counts[i][i] = 6;
  }
  confusion.counts[0][1] = 2;
  confusion.counts[2][1] = 4;
  return confusion;
}

TEST(Page, ConfusionOfFewClassesIsAMatrix) {
  report::Run run = sample("a");
  run.confusion = confusion_of(3);
  run.confusion.names[1] = "<b>";
  const std::string html = page({run, sample("b")});
  EXPECT_TRUE(has(html, "<i></i>a, step 7</h3>"));
  EXPECT_FALSE(has(html, "<i></i>b, step"));
  EXPECT_TRUE(has(html,
                  "<td class=\"right\" style=\"--part:0.600\" title=\"class 2 taken for class 2: 6 "
                  "of 10\">6</td><td>60 %</td></tr>"));
  EXPECT_TRUE(has(html, "title=\"class 2 taken for &lt;b&gt;: 4 of 10\">4</td>"));
  EXPECT_FALSE(has(html, "class=\"confused\""));
}

TEST(Page, ConfusionOfManyClassesBeginsWithThePairsConfusedMost) {
  report::Run run = sample("a");
  run.confusion = confusion_of(30);
  const std::string html = page({run});
  EXPECT_TRUE(has(html,
                  "<tr><th>class 2</th><td>class 1</td><td>4</td><td>40.00 %</td></tr>\n"
                  "<tr><th>class 0</th><td>class 1</td><td>2</td><td>25.00 %</td></tr>\n"
                  "</tbody>"));
  EXPECT_LT(html.find("class=\"confused\""), html.find("<summary>all 30 classes"));
  run.confusion = confusion_of(101);
  EXPECT_FALSE(has(page({run}), "class=\"matrix\""));
}

TEST(Page, MarksSettingsThatDiffer) {
  report::Run a = sample("a"), b = sample("b");
  b.settings = {{"optimizer.rate", "0.25"}, {"train.seed", "1"}, {"optimizer.momentum", "0.9"}};
  const std::string html = page({a, b});
  EXPECT_TRUE(has(html,
                  "<th>optimizer.rate</th><td data-label=\"a\">0.5</td>"
                  "<td class=\"differs\" data-label=\"b\">0.25</td>"));
  EXPECT_TRUE(has(html,
                  "<th>optimizer.momentum</th><td data-label=\"a\">–</td>"
                  "<td class=\"differs\" data-label=\"b\">0.9</td>"));
  EXPECT_TRUE(has(html, "<th>train.seed</th><td data-label=\"\">1</td></tr>"));
  EXPECT_FALSE(has(page({a}), "class=\"differs\""));
}

TEST(Page, EscapesNames) {
  report::Run run = sample("</script><b title=\"x\">&");
  run.settings = {{"<i>", "</table>"}};
  run.state = "failed: <img src=x onerror=alert(1)>";
  const std::string html = page({run});
  EXPECT_EQ(data_of(html)[0]["name"], run.name);
  for (const char* part : {"<b title", "<img"}) EXPECT_FALSE(has(html, part)) << part;
  EXPECT_TRUE(has(html, "&lt;/script&gt;&lt;b title=&quot;x&quot;&gt;&amp;"));
  EXPECT_TRUE(has(html, "<th>&lt;i&gt;</th><td data-label=\"\">&lt;/table&gt;</td>"));
}

TEST(Page, NeedsNothingElse) {
  const std::string html = page({sample("a")});
  for (const char* part : {"src=", "href=", "@import", "url(", "fetch("})
    EXPECT_FALSE(has(html, part)) << part;
}

// A curve of a million points would be a page that no browser opens; its peaks must stay.
TEST(Page, ThinsLongCurvesButKeepsTheirPeaks) {
  report::Run run = sample("a");
  run.training.assign(100000, {.step = 0, .samples = 0, .seconds = 0, .loss = 1});
  for (std::size_t i = 0; i < run.training.size(); ++i)
    run.training[i].step = static_cast<double>(i);
  run.training[54321].loss = 7;
  run.training[54399].loss = 0.5;
  const nlohmann::json curve = data_of(page({run}))[0]["training"];
  EXPECT_LE(curve["step"].size(), 4000u);
  double lowest = 1, highest = 1, before = -1;
  for (std::size_t i = 0; i < curve["step"].size(); ++i) {
    EXPECT_GT(curve["step"][i].get<double>(), before);
    before = curve["step"][i];
    lowest = std::min(lowest, curve["loss"][i].get<double>());
    highest = std::max(highest, curve["loss"][i].get<double>());
  }
  EXPECT_EQ(lowest, 0.5);
  EXPECT_EQ(highest, 7);
}

}  // namespace
}  // namespace tutti::report
