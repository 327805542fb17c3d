// SPDX-License-Identifier: Apache-2.0
// Runs the program in a folder of its own and says what a shell would see.
#pragma once

#include "temporary_folder.h"

#include <fmt/format.h>
#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace tutti::cli {

using Words = std::vector<std::string>;

struct Result {
  int code = -1;  // 128 + signal when a signal ended it
  std::string out, err;
};

// What a run is denied.
struct Denied {
  std::int64_t file_bytes = -1;     // no file may grow beyond it, as on a full disk
  std::int64_t address_bytes = -1;  // it may not map more memory, as with ulimit -v
  bool write_any_folder = false;    // root's right to write into read-only folders
  bool environment = false;         // no variables, and programs can't be found
};

class Sandbox {
 public:
  Result run(const Words& words, const Denied& denied = {});
  // The same on a terminal; out and err come together in `out`.
  Result run_on_terminal(const Words& words);

  // Begins a run that can be signalled; one at a time.
  pid_t start(const Words& words, const Denied& denied = {});
  Result wait(pid_t child);

  std::string write(const std::string& name, const std::string& bytes) const;
  std::string read(const std::string& name) const { return read_bytes(file(name)); }
  std::string file(const std::string& name) const { return folder_.file("work/" + name); }
  bool has(const std::string& name) const;
  Words files() const;  // below the folder, sorted

  Sandbox();

 private:
  TemporaryFolder folder_;
};

// A network that trains in milliseconds: 60 samples in batches of 12.
extern const char* const small_recipe;

bool contains(const std::string& text, const std::string& part);
// Expects every part in the text.
void expect_in(const std::string& text, std::initializer_list<const char*> parts);
// Expects this exit code and one line that names every part on the error output.
void expect_failure(const Result& result, int code, std::initializer_list<const char*> parts);
// Expects success without a word on the error output.
void expect_success(const Result& result);

}  // namespace tutti::cli
