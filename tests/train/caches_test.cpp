// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/caches.h"

#include "tutti/comm/links.h"
#include "tutti/comm/self.h"
#include "tutti/cost/machine.h"
#include "tutti/kernels/variant_cache.h"

#include "small_job.h"

#include <cstdlib>
#include <filesystem>

namespace tutti {
namespace {

class Caches : public testing::Test {
 protected:
  Caches() {
    std::filesystem::create_directories(folder_.file("tutti"));
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
  }
  ~Caches() override { unsetenv("XDG_CACHE_HOME"); }

  void damage_all() const {
    for (const std::string& file : {machine_file(), links_file(), default_variant_cache()})
      write_bytes(file, "{\"version\": 1, \"li");
  }

  TemporaryFolder folder_;
};

TEST_F(Caches, OnlyDamagedOnesAreRemarkedOn) {
  EXPECT_TRUE(cache_remarks().empty());
  write_machine(machine_file(), {.cpu = "a processor", .date = "2024-02-29"});
  write_links(links_file(), "mpi", {.within = {{8, 2e-5, 1e-9}}});
  append_variant_times(default_variant_cache(), "a", {{"fft", 1, 0}});
  EXPECT_TRUE(cache_remarks().empty());
  damage_all();
  const std::vector<std::string> remarks = cache_remarks();
  ASSERT_EQ(remarks.size(), 3u);
  const char* parts[][2] = {{"tutti/machine.json", "run tutti calibrate again"},
                            {"tutti/network.json", "run tutti calibrate again"},
                            {"tutti/variants.jsonl", "run tutti tune again"}};
  for (std::size_t i = 0; i < 3; ++i)
    for (const char* part : parts[i])
      EXPECT_NE(remarks[i].find(part), std::string::npos) << remarks[i];
}

// Every reader of the three goes on as if nothing had been measured; the run says so once.
TEST_F(Caches, TrainingGoesOnWithoutDamagedOnes) {
  const TemporaryFolder run;
  const auto trained = [&] {
    std::vector<std::string> lines;
    TrainOptions options{.overwrite = true};
    options.print = [&](const std::string& line) { lines.push_back(line); };
    train(small_job(run, {"train.steps=2"}), options);
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return line.starts_with("ignored: "); });
  };
  EXPECT_EQ(trained(), 0);
  damage_all();
  EXPECT_EQ(trained(), 3);
  EXPECT_NE(read_bytes(run.file("small.jsonl")).find(R"({"kind":"remark","text":"ignored: )"),
            std::string::npos);
  EXPECT_FALSE(known_machine().has_value());
  EXPECT_NO_THROW(use_measured_links(*self_communicator(), "mpi", links_file()));
}

}  // namespace
}  // namespace tutti
