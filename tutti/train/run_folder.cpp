// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/run_folder.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tutti {
namespace {

void make_run_folder(const std::string& path, const std::string& given) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failure;
  if (!given.empty() || path.empty() || std::filesystem::is_directory(folder, failure)) return;
  if (!std::filesystem::create_directories(folder, failure))
    throw Error(
        "can't make the folder {} for the files of the run: {}; make it, or set "
        "train.record and train.checkpoint",
        folder.string(), failure.message());
}

void require_writable_folder(const std::string& checkpoint) {
  if (checkpoint.empty()) return;
  const std::filesystem::path parent = std::filesystem::path(checkpoint).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(
        "can't write checkpoint {}.safetensors: folder {}: {}; make it, or set "
        "train.checkpoint",
        checkpoint, folder, std::strerror(errno));
}

}  // namespace

void make_record_folder(const Job& job) {
  make_run_folder(job.record_path(), job.table("train").text("record"));
}

void make_checkpoint_folder(const Job& job) {
  make_run_folder(job.checkpoint_path(), job.table("train").text("checkpoint"));
  require_writable_folder(job.checkpoint_path());
}

}  // namespace tutti
