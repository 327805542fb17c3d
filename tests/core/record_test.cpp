// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/record.h"

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

TEST(Record, OneObjectPerLineInTheOrderGiven) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.jsonl");
  RecordWriter record(path);
  record.write({{"step", 1}, {"loss", 0.5}, {"accuracy", 0.25}});
  // On disk at once, not when the writer goes.
  EXPECT_EQ(read_bytes(path), "{\"step\":1,\"loss\":0.5,\"accuracy\":0.25}\n");
  record.write({{"text", "two\nlines \"quoted\""}});
  EXPECT_EQ(read_bytes(path),
            "{\"step\":1,\"loss\":0.5,\"accuracy\":0.25}\n"
            "{\"text\":\"two\\nlines \\\"quoted\\\"\"}\n");
}

TEST(Record, AppendsOrReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.jsonl");
  RecordWriter(path).write({{"run", 1}});
  RecordWriter(path).write({{"run", 2}});
  EXPECT_EQ(read_bytes(path), "{\"run\":1}\n{\"run\":2}\n");
  RecordWriter(path, OutputFile::Existing::replace).write({{"run", 3}});
  EXPECT_EQ(read_bytes(path), "{\"run\":3}\n");
}

TEST(Record, NoFileNoRecord) {
  RecordWriter().write({{"step", 1}});
  RecordWriter("").write({{"step", 1}});
}

TEST(Record, StaysJsonForOddValues) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.jsonl");
  RecordWriter(path).write(
      {{"loss", std::numeric_limits<double>::quiet_NaN()}, {"name", "not utf-8: \xff"}});
  const Json read = Json::parse(read_bytes(path));
  EXPECT_TRUE(read["loss"].is_null());
  EXPECT_TRUE(read["name"].is_string());
}

TEST(Record, RefusesAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("absent/run.jsonl");
  expect_error([&] { RecordWriter{path}; },
               {"can't write", path.c_str(), "No such file", "folder"});
}

TEST(Record, RefusesAFolderThatMayNotBeWritten) {
  // Also as root: nothing can be created in /proc.
  expect_error([] { RecordWriter{"/proc/run.jsonl"}; }, {"can't write /proc/run.jsonl"});
}

TEST(Record, FullDiskIsAnError) {
  RecordWriter record("/dev/full");
  expect_error([&] { record.write({{"step", 1}}); }, {"/dev/full", "No space left", "free some"});
}

TEST(Record, FullDiskLeavesWholeLines) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.jsonl");
  const bool refused = with_file_limit(20, [&] {
    RecordWriter record(path);
    record.write({{"step", 1}});
    try {
      record.write({{"step", 2}, {"long", "0123456789"}});
    } catch (const Error&) {
      return true;
    }
    return false;
  });
  EXPECT_TRUE(refused);
  EXPECT_EQ(read_bytes(path), "{\"step\":1}\n");
}

}  // namespace
}  // namespace tutti
