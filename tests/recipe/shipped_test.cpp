// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/shipped.h"

#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <map>

namespace tutti {
namespace {

std::map<std::string, int> counts_of_names(const List<ShippedFile>& files) {
  std::map<std::string, int> counts;
  for (const ShippedFile& file : files) ++counts[file.name];
  return counts;
}

TEST(Shipped, ANameStandsForOneFile) {
  for (const char* folder : {"recipes", "machines"}) {
    const auto counts = counts_of_names(shipped_files(TUTTI_SOURCE_DIR, folder, "file"));
    EXPECT_FALSE(counts.empty()) << folder;
    for (const auto& [name, count] : counts)
      EXPECT_EQ(count, 1) << folder << ": " << name << " is the name of several files";
  }
}

// A point in a name would make it look like that of another kind of file.
TEST(Shipped, NamesHaveNoEndingAndFilesSayWhatTheyAre) {
  for (const char* folder : {"recipes", "machines"})
    for (const ShippedFile& file : shipped_files(TUTTI_SOURCE_DIR, folder, "file")) {
      EXPECT_EQ(file.name.find('.'), std::string::npos) << file.path;
      EXPECT_TRUE(file.doc.ends_with('.')) << file.path << " begins with no sentence: " << file.doc;
    }
}

TEST(Shipped, FilesOfAllFoldersByFolderAndName) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.file("recipes/schemes"));
  write_bytes(folder.file("recipes/schemes/b.toml"), "# Of 0.5\n#\n# and more. The rest.\n\n# x");
  write_bytes(folder.file("recipes/schemes/a.toml"), "[train]\n");
  write_bytes(folder.file("recipes/c.toml"), "# No point");
  write_bytes(folder.file("recipes/notes.txt"), "# No recipe.");
  const List<ShippedFile> files = shipped_files(folder.path(), "recipes", "recipe");
  EXPECT_EQ(files.names(), (std::vector<std::string>{"c", "a", "b"}));
  const ShippedFile b = files.find("b");
  EXPECT_EQ(b.folder, "recipes/schemes");
  EXPECT_EQ(b.path, folder.file("recipes/schemes/b.toml"));
  EXPECT_EQ(b.text, read_bytes(b.path));
  EXPECT_EQ(b.doc, "Of 0.5 and more.");
  EXPECT_EQ(opening_comment(b.text), "Of 0.5 and more. The rest.");
  EXPECT_EQ(files.find("a").doc, "");
  EXPECT_EQ(files.find("c").doc, "No point");
  EXPECT_TRUE(shipped_files(folder.path(), "none", "recipe").names().empty());
}

TEST(Shipped, FoldersBeforeANameMayBeLeftOut) {
  const ShippedFile file{
      .name = "async", .folder = "recipes/schemes", .path = "", .text = "", .doc = ""};
  for (const char* words : {"async", "schemes/async", "recipes/schemes/async"})
    EXPECT_TRUE(is_called(file, words)) << words;
  for (const char* words : {"", "sync", "/async", "recipes/async", "async.toml", "Async"})
    EXPECT_FALSE(is_called(file, words)) << words;
}

}  // namespace
}  // namespace tutti
