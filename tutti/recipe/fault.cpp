// SPDX-License-Identifier: Apache-2.0
#include "tutti/recipe/fault.h"

#include "tutti/core/error.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>

namespace tutti {

Fault fault_named(const std::string& text) {
  if (text == "none") return {};
  constexpr std::array kinds = {"none", "throw", "exit", "kill", "hang"};
  std::istringstream words(text);
  std::string kind, more;
  Fault fault;
  words >> kind >> fault.rank >> fault.step;
  for (std::size_t i = 1; i < kinds.size(); ++i)
    if (kind == kinds[i]) fault.kind = static_cast<Fault::Kind>(i);
  if (fault.kind == Fault::none || !words || words >> more)
    throw Error(
        "'fault' is \"{}\", expected throw, exit, kill or hang, a rank and a step, as in "
        "\"hang 1 20\", or none",
        text);
  return fault;
}

void Fault::strike(int own_rank, std::int64_t own_step) const {
  if (kind == none || rank != own_rank || step != own_step) return;
  if (kind == raise) throw Error("machine.fault strikes at step {}", step);
  if (kind == leave) ::_exit(9);
  if (kind == kill) ::raise(SIGKILL);
  while (true) ::pause();  // hangs, whatever other ranks do
}

}  // namespace tutti
