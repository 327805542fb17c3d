// SPDX-License-Identifier: Apache-2.0
// A child process that gets questions as lines and answers in lines. Between an answer and the next
// question it is stopped, so that its threads leave the machine to other processes even where they
// spin while they wait, as OpenMP's may for ever.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace tutti::bench {

class Child {
 public:
  // Starts command[0]; `environment` is added to our environment; variables with an empty value are
  // removed. The child may use the cores that this process could use when it began, whatever cores
  // this process is bound to since.
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
