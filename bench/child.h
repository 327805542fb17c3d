// SPDX-License-Identifier: Apache-2.0
// A child process that is asked in lines and answers in lines. Between an answer and the next
// question it is stopped, so that threads of it that spin while they wait, as OpenMP's may for
// ever, leave the machine to the others.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

class Child {
 public:
  // Starts command[0]; `environment` is added to ours, without the variables that are empty in it.
  // The child may use the cores that this process might when it began, whatever it has bound since.
  Child(std::string name, const std::vector<std::string>& command,
        const std::map<std::string, std::string>& environment = {});
  Child(Child&& other) noexcept;
  Child& operator=(Child&&) = delete;
  ~Child();  // closes its input and waits for its end

  // Sends a line, unless it is empty, and returns the answer; throws Error when the child has
  // ended.
  std::string ask(const std::string& line);

 private:
  std::string name_;
  pid_t process_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

}  // namespace tutti::bench
