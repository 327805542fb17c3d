// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/faults.h"

#include "tutti/core/error.h"

#include <array>
#include <sstream>

namespace tutti::sim {
namespace {

bool read(const std::string& text, Fault& fault) {
  constexpr std::array kinds = {"drop",  "corrupt", "duplicate", "reorder",
                                "delay", "cut",     "crash",     "hang"};
  std::istringstream words(text);
  std::string kind, more;
  words >> kind >> fault.rank;
  bool known = false;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    if (kind == kinds[i]) fault.kind = static_cast<Fault::Kind>(i), known = true;
  if (fault.of_one_message() || fault.kind == Fault::cut) words >> fault.to;
  if (fault.of_one_message()) words >> fault.number;
  if (fault.has_seconds()) words >> fault.seconds;
  return known && words && !(words >> more) && fault.rank >= 0 && fault.to >= 0 &&
         fault.number >= 1 && fault.seconds >= 0;
}

}  // namespace

std::vector<Fault> faults_named(const std::string& text) {
  std::vector<Fault> faults;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    if (!read(part, faults.emplace_back()))
      throw Error(
          "'faults' has \"{}\", expected drop FROM TO NUMBER, corrupt FROM TO NUMBER, duplicate "
          "FROM TO NUMBER, reorder FROM TO NUMBER, delay FROM TO NUMBER SECONDS, cut RANK RANK "
          "SECONDS, crash RANK SECONDS or hang RANK SECONDS, with ; between several",
          part);
  }
  return faults;
}

}  // namespace tutti::sim
