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
#include <regex>

namespace tutti::report {
namespace {

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null") != 0)
      GTEST_SKIP() << "chromium is not installed: ./dev deps pages";
    for (const char* name : {"first", "second"})
      write_bytes(folder_.file(name), sample_record + summary_line);
    page_ = page(read_records({folder_.file("first"), folder_.file("second")}));
  }

  // The document after the page's script and `then`.
  std::string shown(const std::string& then = "") {
    const std::string file = folder_.file("page.html"), dump = folder_.file("dump.html");
    write_bytes(file, page_ +
                          "<script>addEventListener('error', e => document.title = e.message);" +
                          then + "</script>");
    const std::string command = fmt::format(
        "timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
        "--window-size=500,900 "
        "--user-data-dir='{}' --dump-dom 'file://{}' >'{}' 2>'{}'",
        folder_.file("profile"), file, dump, folder_.file("log"));
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
  EXPECT_NE(html.find("reduce of c1 (ring): 1 ms, at 2 ms, 400 bytes"), std::string::npos);
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

TEST_F(Browser, FitsANarrowScreen) {
  const std::string html = shown(
      "document.body.style.width = '360px';"
      "document.body.dataset.wider = document.body.scrollWidth > 360;");
  EXPECT_NE(html.find("data-wider=\"false\""), std::string::npos);
}

}  // namespace
}  // namespace tutti::report
