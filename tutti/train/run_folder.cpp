// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/run_folder.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* all_runs = "runs";

bool is_default(const Job& job, const char* key) { return job.table("train").text(key).empty(); }

[[noreturn]] void cannot_make(const std::string& folder, const std::string& why) {
  throw Error(
      "can't make the folder {} for the files of the run: {}; make it, or set "
      "train.record and train.checkpoint",
      folder, why);
}

// Makes a folder. True when it was not there before.
bool make_folder(const std::string& folder) {
  std::error_code failure;
  if (fs::is_directory(folder, failure)) return false;
  const bool made = fs::create_directories(folder, failure);  // false: another run was faster
  if (failure) cannot_make(folder, failure.message());
  return made;
}

void require_writable_folder(const std::string& checkpoint) {
  if (checkpoint.empty()) return;
  const fs::path parent = fs::path(checkpoint).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(
        "can't write checkpoint {}.safetensors: folder {}: {}; make it, or set "
        "train.checkpoint",
        checkpoint, folder, std::strerror(errno));
}

// Whether a folder is called NAME, NAME-2, NAME-3 …
bool is_run_of(const std::string& folder, const std::string& name) {
  if (!folder.starts_with(name)) return false;
  const std::string_view rest = std::string_view(folder).substr(name.size());
  return rest.empty() || (rest.size() > 1 && rest[0] == '-' &&
                          std::all_of(rest.begin() + 1, rest.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; }));
}

// The recipe's file as the record of a run names it; empty where there is no such record.
std::string recipe_in_record(const fs::path& folder) {
  std::ifstream record(folder / "record.jsonl");
  std::string line;
  std::getline(record, line);
  const auto settings = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return settings.is_object() ? settings.value("file", "") : "";
}

bool is_of_another_recipe(const fs::path& folder, const Job& job) {
  const std::string recipe = recipe_in_record(folder);
  const auto whole = [](const std::string& file) { return fs::absolute(file).lexically_normal(); };
  return !recipe.empty() && whole(recipe) != whole(job.recipe.file);
}

// The files that a run would replace.
std::vector<std::string> results_of(const Job& job) {
  std::vector<std::string> paths;
  if (const std::string name = job.checkpoint_path(); !name.empty())
    for (const char* ending :
         {".safetensors", ".state", ".best.safetensors", ".safetensors.new", ".state.new"})
      paths.push_back(name + ending);
  if (const std::string record = job.record_path(); !record.empty()) paths.push_back(record);
  std::erase_if(paths, [](const std::string& path) {  // devices and pipes hold nothing
    std::error_code missing;
    return !fs::is_regular_file(path, missing);
  });
  return paths;
}

// Throws Error where training is to begin from a file that it would replace.
void require_other_beginning(const Job& job) {
  const std::string& from = job.table("train").text("from");
  std::error_code missing;
  for (const std::string& path : results_of(job))
    if (!from.empty() && (fs::equivalent(path, from, missing) ||
                          fs::equivalent(path, from + ".safetensors", missing)))
      throw Error("train.from is {}, which --overwrite would replace; name another --out", from);
}

void require_no_results(const Job& job) {
  if (const std::vector<std::string> paths = results_of(job); !paths.empty())
    throw Error(
        "{} is there from an earlier run; go on from it with --resume, replace it with "
        "--overwrite, or choose another place (--out, train.checkpoint, train.record)",
        paths[0]);
}

std::string host_name() {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string text_in(int file) {
  std::array<char, 512> text = {};
  const ssize_t got = ::pread(file, text.data(), text.size() - 1, 0);
  return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : "another run";
}

// Whether the open file still has that name: the run that held the lock before may have removed it.
bool is_named(int file, const std::string& path) {
  struct stat open = {}, named = {};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

bool needs_folder(const Job& job) {
  return is_default(job, "checkpoint") || is_default(job, "record");
}

std::string new_run_folder(const std::string& name) {
  make_folder(all_runs);
  for (int number = 1;; ++number) {
    const std::string folder = number == 1 ? fmt::format("{}/{}", all_runs, name)
                                           : fmt::format("{}/{}-{}", all_runs, name, number);
    if (folder == latest_run_folder) continue;
    // Of two runs that begin at once, only one makes the folder.
    if (::mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) cannot_make(folder, std::strerror(errno));
  }
}

std::string latest_run(const Job& job) {
  const char* file = is_default(job, "checkpoint") ? "checkpoint.safetensors" : "record.jsonl";
  std::optional<std::string> latest;
  fs::file_time_type latest_time;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(all_runs, missing)) {
    if (entry.is_symlink() || !is_run_of(entry.path().filename().string(), job.name)) continue;
    if (is_of_another_recipe(entry.path(), job)) continue;
    const auto time = fs::last_write_time(entry.path() / file, missing);
    if (missing || (latest && time <= latest_time)) continue;
    latest = entry.path().string();
    latest_time = time;
  }
  if (!latest && is_default(job, "checkpoint") && is_of_another_recipe(job.folder, job))
    throw Error("there is no run of {} below {}; train it first, or name the folder of another run",
                job.recipe.file, all_runs);
  return latest.value_or(job.folder);
}

std::string behind_links(const std::string& folder) {
  fs::path path(folder);
  if (!path.has_filename()) path = path.parent_path();
  std::error_code failure;
  if (!fs::is_symlink(path, failure)) return folder;
  const fs::path target = fs::read_symlink(path, failure);
  return failure ? folder : (path.parent_path() / target).lexically_normal().string();
}

bool has_results(const Job& job) { return !results_of(job).empty(); }

void remove_results(const Job& job) {
  for (const std::string& path : results_of(job)) {
    std::error_code failure;
    fs::remove(path, failure);
    if (failure) throw Error("can't replace {}: {}", path, failure.message());
  }
}

RunFiles::RunFiles(Job& job, const RunPlace& place) {
  if (!place.folder.empty())
    job.folder = behind_links(place.folder);
  else if (place.resume)
    job.folder = latest_run(job);
  else if (needs_folder(job) && !place.overwrite)
    job.folder = made_.path = new_run_folder(job.name);
  if (place.resume && !fs::exists(job.checkpoint_path() + ".safetensors"))
    return;  // there is nothing to go on from, as restore() is about to say
  if (needs_folder(job) && make_folder(job.folder)) made_.path = job.folder;
  require_writable_folder(job.checkpoint_path());
  if (!job.checkpoint_path().empty()) lock_.emplace(job.checkpoint_path());
  if (place.overwrite) require_other_beginning(job);
  if (!place.resume && !place.overwrite) require_no_results(job);
}

// The link is replaced at once, so that it always points at some run.
void point_latest_run_at(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  if (path.parent_path() != all_runs || path == latest_run_folder) return;
  const std::string link = fmt::format("{}.{}", latest_run_folder, ::getpid());
  std::error_code failure;
  fs::create_symlink(path.filename(), link, failure);
  if (!failure) fs::rename(link, latest_run_folder, failure);
  // Training goes on without the link where the file system has no links or a folder has its name.
  if (failure) fs::remove(link, failure);
}

MadeFolder::~MadeFolder() {
  std::error_code not_empty;
  if (!path.empty()) fs::remove(path, not_empty);
}

// The kernel frees the lock when the process ends, however it ends; the file says whose it is.
CheckpointLock::CheckpointLock(const std::string& checkpoint) : path_(checkpoint + ".lock") {
  while (file_ < 0) {
    const int file = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) throw Error("can't write {}: {}", path_, std::strerror(errno));
    // Where the file system has no locks, runs are kept apart by their folders alone.
    if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      const std::string owner = text_in(file);
      ::close(file);
      throw Error(
          "checkpoint {} is in use by {}; wait for its end, or give this run another place "
          "(--out, train.checkpoint)",
          checkpoint, owner);
    }
    if (is_named(file, path_))
      file_ = file;
    else
      ::close(file);
  }
  const std::string owner = fmt::format("process {} on {}", ::getpid(), host_name());
  if (::ftruncate(file_, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(file_, owner.data(), owner.size(), 0);
}

CheckpointLock::~CheckpointLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace tutti
