// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/shipped.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <tuple>
#include <vector>

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Up to the point that a blank follows: there are points in numbers, too.
std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

}  // namespace

List<ShippedFile> shipped_files(const fs::path& root, const std::string& folder,
                                const std::string& kind) {
  std::vector<ShippedFile> files;
  std::error_code missing;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(root / folder, missing)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".toml") continue;
    const std::string text = text_of(path);
    files.push_back({path.stem().string(), path.parent_path().lexically_relative(root).string(),
                     path.string(), text, first_sentence(opening_comment(text))});
  }
  std::sort(files.begin(), files.end(), [](const ShippedFile& a, const ShippedFile& b) {
    return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
  });
  return {kind, std::move(files)};
}

bool is_called(const ShippedFile& file, std::string_view words) {
  return !words.empty() &&
         ("/" + file.folder + "/" + file.name).ends_with("/" + std::string(words));
}

std::string opening_comment(const std::string& text) {
  std::istringstream lines(text);
  std::string comment;
  for (std::string line; std::getline(lines, line) && line.starts_with('#');) {
    const std::size_t begin = line.find_first_not_of("# ");
    if (begin == std::string::npos) continue;
    comment += (comment.empty() ? "" : " ") + line.substr(begin);
  }
  return comment;
}

}  // namespace tutti
