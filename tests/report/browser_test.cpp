// SPDX-License-Identifier: Apache-2.0
// The page in a real browser: Debian's chromium without a window, which prints the document as its
// scripts have made it.
#include "tutti/report/page.h"
#include "tutti/report/read_record.h"

#include "report/sample_record.h"
#include "temporary_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>

namespace tutti::report {
namespace {

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null") != 0)
      GTEST_SKIP() << "chromium is not installed: ./dev deps pages";
    for (const char* name : {"first", "second"})
      write_bytes(folder_.file(name), sample_record + summary_line);
    page_ = page(read_records({folder_.file("first"), folder_.file("second")}).runs);
  }

  // The document after the page's script and `then`, in a window so wide.
  std::string shown(const std::string& then = "", int width = 500) {
    const std::string file = folder_.file("page.html"), dump = folder_.file("dump.html");
    write_bytes(file, page_ +
                          "<script>addEventListener('error', e => document.title = e.message);" +
                          then + "</script>");
    const std::string command = fmt::format(
        "timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--window-size={},900 "
        "--user-data-dir='{}' --dump-dom 'file://{}' >'{}' 2>'{}'",
        width, folder_.file("profile"), file, dump, folder_.file("log"));
    EXPECT_EQ(std::system(command.c_str()), 0) << read_bytes(folder_.file("log"));
    return read_bytes(dump);
  }

  TemporaryFolder folder_;
  std::string page_;
};

// The d of the path of this class and run, in order of the charts.
std::vector<std::string> paths(const std::string& html, const std::string& kind,
                               const std::string& run) {
  const std::regex pattern("<path class=\"line " + kind + "\" d=\"([^\"]*)\"[^>]* data-run=\"" +
                           run + "\"");
  std::vector<std::string> found;
  for (std::sregex_iterator at(html.begin(), html.end(), pattern), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

TEST_F(Browser, DrawsTheCurvesOfAllRuns) {
  const std::string html = shown();
  for (const char* run : {"first", "second"}) {
    const auto training = paths(html, "training", run);
    ASSERT_EQ(training.size(), 5u) << html;  // loss, accuracy, norm, rate, speed
    // The second loss is unknown: two points that no line joins. All three accuracies are known.
    EXPECT_TRUE(std::regex_match(training[0], std::regex("M[0-9. ]+h0M[0-9. ]+h0"))) << training[0];
    EXPECT_TRUE(std::regex_match(training[1], std::regex("M[0-9. ]+h0L[0-9. ]+L[0-9. ]+")))
        << training[1];
    EXPECT_EQ(paths(html, "test", run).size(), 2u);
  }
}

// A box for each of four spans, in two runs; pointing at one tells what it is.
TEST_F(Browser, DrawsTheTimelineOfAStep) {
  const std::string html = shown(
      "document.querySelectorAll('.span')[1].dispatchEvent(new PointerEvent('pointerdown'));");
  const std::regex boxes("<rect [^>]*class=\"span\"");
  EXPECT_EQ(std::distance(std::sregex_iterator(html.begin(), html.end(), boxes), {}), 8);
  EXPECT_NE(html.find("allreduce_block of c1 (ring): 1 ms, at 2 ms, 400 B"), std::string::npos);
  EXPECT_NE(html.find("convolution 2 ms (50 %)"), std::string::npos) << html;
}

TEST_F(Browser, SwitchesTheAxis) {
  const std::string steps = shown();
  EXPECT_NE(steps.find("aria-label=\"loss over steps\""), std::string::npos);
  const std::string samples = shown("document.querySelector('[value=samples]').click();");
  EXPECT_NE(samples.find("aria-label=\"loss over samples\""), std::string::npos);
  // 3 steps are equally far apart, their samples (10, 20, 25) are not.
  EXPECT_NE(paths(samples, "training", "first").at(1), paths(steps, "training", "first").at(1));
  const std::string time = shown("document.querySelector('[value=seconds]').click();");
  EXPECT_NE(time.find("aria-label=\"loss over seconds\""), std::string::npos);
}

TEST_F(Browser, HidesARun) {
  const std::string html = shown("document.getElementsByName('run')[0].click();");
  EXPECT_TRUE(paths(html, "training", "first").empty());
  EXPECT_EQ(paths(html, "training", "second").size(), 5u);
}

TEST_F(Browser, TellsTheValuesAtThePointer) {
  const std::string html = shown(R"(
    const box = document.querySelector('figure svg').getBoundingClientRect();
    document.querySelector('figure svg').dispatchEvent(
        new PointerEvent('pointermove', {clientX: box.right - 20, clientY: box.top + 50}));)");
  EXPECT_NE(html.find("first, training<b class=\"\">1.25</b>"), std::string::npos) << html;
  EXPECT_NE(html.find("second, test<b class=\"\">1.75</b>"), std::string::npos);
}

// What operators are drawn in stays the same from run to run, and is no run's colour.
TEST_F(Browser, AnOperatorHasOneColourInAllTimelines) {
  std::string other = sample_record;
  other.replace(other.find("convolution of c1"), 17, "matmul of fc1");  // which comes first there
  write_bytes(folder_.file("second"), other);
  page_ = page(read_records({folder_.file("first"), folder_.file("second")}).runs);
  const std::string html = shown();
  std::map<std::string, std::set<std::string>> fills;
  const std::regex boxes("fill=\"([^\"]*)\" class=\"span\" data-kind=\"([^\"]*)\"");
  for (std::sregex_iterator at(html.begin(), html.end(), boxes), end; at != end; ++at)
    fills[(*at)[2]].insert((*at)[1]);
  EXPECT_EQ(fills.at("convolution"), std::set<std::string>{"var(--k0)"});
  EXPECT_EQ(fills.at("matmul"), std::set<std::string>{"var(--k1)"});
  EXPECT_EQ(fills.at("allreduce_block"), std::set<std::string>{"var(--faint)"});
}

// A step that takes twice as long is drawn twice as wide, unless each is to fill the width.
TEST_F(Browser, TimelinesHaveOneScale) {
  std::string longer = sample_record;
  const std::string last = "onednn\",0.0,0.004,0]]";
  longer.replace(longer.find(last), last.size(), "onednn\",0.0,0.008,0]]");
  write_bytes(folder_.file("second"), longer);
  page_ = page(read_records({folder_.file("first"), folder_.file("second")}).runs);
  // The widest box of each run.
  const auto widths = [](const std::string& html) {
    std::vector<double> widest;
    const std::regex boxes("<rect [^>]*width=\"([0-9.]+)\"[^>]* class=\"span\"");
    std::size_t i = 0;
    for (std::sregex_iterator at(html.begin(), html.end(), boxes), end; at != end; ++at, ++i) {
      if (i % 4 == 0) widest.push_back(0);
      widest.back() = std::max(widest.back(), std::stod((*at)[1]));
    }
    return widest;
  };
  const std::vector<double> same = widths(shown());
  ASSERT_EQ(same.size(), 2u);
  EXPECT_NEAR(same[1], 2 * same[0], 0.01);
  const std::vector<double> own =
      widths(shown("document.querySelector('#scale [name=same]').click();"));
  EXPECT_NEAR(own[1], own[0], 0.01);
}

// What a reader of many mixed runs sees: columns that fit, or cards, never letters below letters.
TEST_F(Browser, TablesThatDoNotFitBecomeCards) {
  std::vector<report::Run> runs;
  for (int i = 0; i < 7; ++i) {
    report::Run run = read_records({folder_.file("first")}).runs[0];
    run.name = "a run with quite a long name " + std::to_string(i);
    run.settings.emplace_back("data.mean", fmt::format("[0.4914,0.4822,0.4465,0.{}]", i));
    if (i % 2 == 1) run.numbers = {{"planned_bytes", 1e9}, {"grown_bytes", 1e9}, {"retries", 1}};
    if (i == 3) run.last.absolute_error = run.test[0].absolute_error = 0.5;
    runs.push_back(run);
  }
  const std::string measure = R"(
    const wides = [...document.querySelectorAll('.wide')];
    document.body.dataset.cards = wides.map(w => w.classList.contains('cards')).join();
    const cells = wides.flatMap(w => [...w.querySelectorAll('td, th')]).filter(c => c.clientWidth > 0);
    document.body.dataset.narrowest = Math.min(...cells.map(c => c.clientWidth)) >= 40;
    document.body.dataset.wider = document.documentElement.scrollWidth > innerWidth;)";
  page_ = page(runs);
  for (const int width : {1280, 500}) {
    const std::string html = shown(measure, width);
    for (const char* found :
         {"data-cards=\"true,true\"", "data-narrowest=\"true\"", "data-wider=\"false\""})
      EXPECT_NE(html.find(found), std::string::npos) << width << " " << found;
  }
  page_ = page({runs[0], runs[2]});
  EXPECT_NE(shown(measure, 1280).find("data-cards=\"false,false\""), std::string::npos);
}

TEST_F(Browser, FitsANarrowScreen) {
  const std::string html = shown(
      "document.body.style.width = '360px';"
      "document.body.dataset.wider = document.body.scrollWidth > 360;");
  EXPECT_NE(html.find("data-wider=\"false\""), std::string::npos);
}

}  // namespace
}  // namespace tutti::report
