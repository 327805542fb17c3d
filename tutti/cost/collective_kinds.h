// SPDX-License-Identifier: Apache-2.0
// The kinds of collectives that can be measured: their algorithms, what each rank should have in
// the end, and the least that a rank must send.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/collectives/lower_bounds.h"

#include <functional>
#include <optional>

namespace tutti {

struct CollectiveKind {
  // Element i of the vector that a rank starts with.
  using Given = std::function<double(int rank, std::int64_t i)>;

  std::string name;  // "all-to-all"
  std::string doc;
  List<Collective> list;
  collectives::LeastTraffic (*least)(int ranks) = nullptr;
  // What element i of a rank's vector should become; none: anything.
  std::optional<double> (*result)(const collectives::Problem& problem, int rank, std::int64_t i,
                                  const Given& given) = nullptr;
  // Elements of a rank's vector, where they are not the count of the problem.
  std::int64_t (*elements)(const collectives::Problem& problem, int rank) = nullptr;
  // Whether the count must be a multiple of the ranks.
  bool equal_blocks = false;
};

List<CollectiveKind> collective_kinds();

}  // namespace tutti
