// SPDX-License-Identifier: Apache-2.0
// Where a run leaves its files, so that no run destroys the results of another. Files that the
// recipe does not name go to a folder of the run's own: runs/NAME, or runs/NAME-2 and so on where
// that is taken; runs/latest points at the run that began last.
#pragma once

#include "tutti/recipe/job.h"

#include <optional>
#include <string>

namespace tutti {

inline constexpr const char* latest_run_folder = "runs/latest";

// Where a training run is to leave its files, and what becomes of files that are there.
struct RunPlace {
  std::string folder = "";  // empty: a folder is chosen
  bool resume = false;      // go on from what is there
  bool overwrite = false;   // replace what is there
};

// Whether the job has files that the recipe does not name.
bool needs_folder(const Job& job);

// Makes the first of runs/NAME, runs/NAME-2 … that is not there yet.
std::string new_run_folder(const std::string& name);

// The folder of the run of this recipe that was written to last. Where there is none, job.folder;
// throws Error if that belongs to another recipe's run.
std::string latest_run(const Job& job);

// The folder that a link points to: the link may point elsewhere before the run ends. A folder that
// is no link is returned as it is.
std::string behind_links(const std::string& folder);

// Whether files are there that a fresh run of the job would replace.
bool has_results(const Job& job);
void remove_results(const Job& job);

// Lets runs/latest point at a folder of runs/.
void point_latest_run_at(const std::string& folder);

// A folder that was made for a run, removed again if nothing was written into it.
class MadeFolder {
 public:
  MadeFolder() = default;
  ~MadeFolder();
  MadeFolder(const MadeFolder&) = delete;
  MadeFolder& operator=(const MadeFolder&) = delete;

  std::string path = "";  // empty: it was there before
};

// The right to write a checkpoint, which one run has at a time.
class CheckpointLock {
 public:
  // Throws Error where another run has the right, naming its process.
  explicit CheckpointLock(const std::string& checkpoint);
  ~CheckpointLock();
  CheckpointLock(const CheckpointLock&) = delete;
  CheckpointLock& operator=(const CheckpointLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

// The files of a run, which are its own while this object lives. Made by rank 0.
class RunFiles {
 public:
  // Sets the job's folder, makes it, and locks the checkpoint. An Error says which other run uses
  // it, whose results would be replaced, or that nothing can be written there. What is to be
  // overwritten stays until the run begins (remove_results).
  RunFiles(Job& job, const RunPlace& place);

 private:
  MadeFolder made_;
  std::optional<CheckpointLock> lock_;
};

}  // namespace tutti
