// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/output_file.h"

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(OutputFile, WritesSyncsAndMoves) {
  const TemporaryFolder folder;
  OutputFile first(folder.file("a"), OutputFile::Existing::replace);
  first.write("ab", 2);
  OutputFile second(std::move(first));
  second.write("c", 1);
  second.sync();
  EXPECT_EQ(read_bytes(second.path()), "abc");
  sync_folder_of(second.path());
}

TEST(OutputFile, RefusesAFileAsFolder) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a"), "");
  expect_error([&] { OutputFile(folder.file("a/b"), OutputFile::Existing::replace); },
               {"can't write", "a/b", "Not a directory"});
}

TEST(OutputFile, FolderToSyncMustExist) {
  expect_error([] { sync_folder_of("/absent/file"); }, {"/absent"});
}

}  // namespace
}  // namespace tutti
