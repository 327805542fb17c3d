// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/freeze.h"

#include "tutti/core/error.h"
#include "tutti/core/nearest.h"

#include <fnmatch.h>

#include <sstream>

namespace tutti {

void freeze(Net& net, const std::string& patterns, std::string_view where) {
  std::istringstream words(patterns);
  bool any = false;
  for (std::string pattern; words >> pattern;) {
    bool matches = false;
    std::vector<std::string> names;
    for (Range& range : net.table.ranges) {
      names.push_back(range.name);
      if (fnmatch(pattern.c_str(), range.name.c_str(), 0) != 0) continue;
      range.trainable = false;
      matches = true;
    }
    if (!matches)
      throw Error("{}: 'freeze' has '{}', which is no parameter's name{}", where, pattern,
                  suggestion(pattern, names));
    any = true;
  }
  if (any && net.table.parameters(/*trainable_only=*/true) == 0)
    throw Error("{}: 'freeze' is \"{}\", which leaves nothing to train", where, patterns);
}

}  // namespace tutti
