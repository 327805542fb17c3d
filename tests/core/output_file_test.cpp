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

// What was there before stays, however often writing is tried.
TEST(OutputFile, FullDiskKeepsWhatWasThere) {
  for (const auto existing : {OutputFile::Existing::append, OutputFile::Existing::replace}) {
    const TemporaryFolder folder;
    const bool append = existing == OutputFile::Existing::append;
    if (append) write_bytes(folder.file("a"), "before ");
    const std::string large(100, 'x');
    EXPECT_TRUE(with_file_limit(50, [&] {
      OutputFile file(folder.file("a"), existing);
      if (!append) file.write("before ", 7);
      for (int attempt = 0; attempt < 2; ++attempt)
        expect_error([&] { file.write(large.data(), 100); }, {"can't write", "File too large"});
      file.write("after", 5);
      return !testing::Test::HasFailure();
    }));
    EXPECT_EQ(read_bytes(folder.file("a")), "before after");
  }
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
