// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/machine.h"

#include "tutti/core/error.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace tutti {
namespace {

Machine small_machine() {
  Machine machine{.cpu = "a processor", .date = "2024-02-29"};
  machine.by_threads[2] = {.multiply_adds_per_second = 1e11,
                           .bytes_per_second = 3e10,
                           .fork_join_seconds = 2e-6,
                           .stream = {{65536, 1e-11}, {131072, 2e-11}},
                           .classes = {{"relu/simd", {{{10.5, -2}, 1024, 3e-6}}}}};
  return machine;
}

TEST(MachineFile, IsReadAsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("cache/tutti/machine.json");
  write_machine(path, small_machine());
  const Machine found = read_machine(path).value();
  EXPECT_EQ(found.cpu, "a processor");
  EXPECT_EQ(found.date, "2024-02-29");
  EXPECT_EQ(found.with_threads(1), nullptr);
  const Calibration& calibration = *found.with_threads(2);
  EXPECT_EQ(calibration.multiply_adds_per_second, 1e11);
  EXPECT_EQ(calibration.bytes_per_second, 3e10);
  EXPECT_EQ(calibration.fork_join_seconds, 2e-6);
  ASSERT_EQ(calibration.stream.size(), 2);
  EXPECT_EQ(calibration.stream[1].seconds_per_byte, 2e-11);
  const TimeSample& sample = calibration.classes.at("relu/simd").at(0);
  EXPECT_EQ(sample.at, (std::vector<double>{10.5, -2}));
  EXPECT_EQ(sample.units, 1024);
  EXPECT_EQ(sample.seconds, 3e-6);
}

TEST(MachineFile, MayBeMissing) {
  EXPECT_FALSE(read_machine("").has_value());
  EXPECT_FALSE(read_machine("/nowhere/machine.json").has_value());
}

TEST(MachineFile, OtherContentIsAnError) {
  const TemporaryFolder folder;
  const std::string head = R"({"version": 1, "cpu": "a", "date": "b", "threads": )";
  const std::string rates =
      R"("multiply_adds_per_second": 1, "bytes_per_second": 1, "fork_join_seconds": 1, "stream": [])";
  for (const std::string& content :
       {std::string(), std::string("{}"), std::string("{\"version\": 999}"), std::string("no json"),
        head + R"({"many": {)" + rates + R"(, "classes": {}}}})",
        head + R"({"1": {)" + rates +
            R"(, "classes": {"a": [{"at": [1], "units": 1, "seconds": 0}]}}}})",
        head + R"({"1": {)" + rates +
            R"(, "classes": {"a": [{"at": [1], "units": 1, "seconds": 1},)"
            R"({"at": [1, 2], "units": 1, "seconds": 1}]}}}})"}) {
    std::ofstream(folder.file("machine.json")) << content;
    try {
      read_machine(folder.file("machine.json"));
      FAIL() << content;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("run tutti calibrate again"), std::string::npos)
          << content;
    }
  }
}

TEST(MachineFile, WithoutAFolderIsAnError) {
  EXPECT_THROW(write_machine("", small_machine()), Error);
}

}  // namespace
}  // namespace tutti
