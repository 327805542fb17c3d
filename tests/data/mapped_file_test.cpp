// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/mapped_file.h"

#include "data/scratch.h"

#include <sys/stat.h>

namespace tutti::data {
namespace {

Bytes bytes_of(const MappedFile& file) { return {file.bytes().begin(), file.bytes().end()}; }

TEST(MappedFile, HoldsTheBytes) {
  const Scratch scratch;
  MappedFile file(scratch.write("a", {1, 2, 3}));
  EXPECT_EQ(bytes_of(file), (Bytes{1, 2, 3}));
  MappedFile moved(std::move(file));
  EXPECT_EQ(bytes_of(moved), (Bytes{1, 2, 3}));
  moved = MappedFile(scratch.write("b", {4}));
  EXPECT_EQ(bytes_of(moved), (Bytes{4}));
  EXPECT_TRUE(MappedFile(scratch.write("empty", {})).bytes().empty());
}

TEST(MappedFile, Errors) {
  const Scratch scratch;
  expect_error([&] { MappedFile(scratch.folder() / "none"); }, {"none", "No such file"});
  expect_error([&] { MappedFile file(scratch.folder()); }, {"not a regular file"});
  const std::string pipe = (scratch.folder() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error([&] { MappedFile file(pipe); }, {"not a regular file"});
}

}  // namespace
}  // namespace tutti::data
