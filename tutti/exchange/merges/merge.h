// SPDX-License-Identifier: Apache-2.0
// Merges say what becomes of the ranks' gradients: what a sample weighs in the gradient of its
// rank, and what a rank's gradient is multiplied by before ranks are summed. A new merge is a file
// in this folder and a line in merges.cpp.
#pragma once

#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/exchange/objection.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti {

struct Merge {
  std::string name, doc;
  std::vector<Setting> settings = {};
  Objection objection = nullptr;
  // For a rank with `own` of the `all` samples of a step: a sample weighs 1 / counted(), and the
  // rank's gradient, loss and metric are multiplied by factor().
  std::int64_t (*counted)(std::int64_t own, std::int64_t all) = nullptr;
  double (*factor)(std::int64_t own, std::int64_t all) = nullptr;
};

List<Merge> merges();

}  // namespace tutti
