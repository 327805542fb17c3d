// SPDX-License-Identifier: Apache-2.0
// Collectives: operations of all ranks on equal vectors, each algorithm a file beside this and a
// line in lists.cpp. An Operation is made once with a tag; operations with different tags may
// be in flight together and be started in any order.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/core/dtype.h"
#include "tutti/core/list.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tutti {

// The same on all ranks.
struct CollectiveArgs {
  DType dtype = DType::f32;
  std::int64_t count = 0;  // elements
  int tag = 0;
  bool fixed_order = false;  // add in rank order per element: ((x0 + x1) + x2) + …
};

// A message of n bytes takes latency + n · per_byte.
struct LinkCost {
  double latency_seconds = 0;
  double seconds_per_byte = 0;
};

struct Collective {
  std::string name;
  std::string doc;
  bool (*supports)(Communicator&) = nullptr;
  std::unique_ptr<Operation> (*make)(Communicator&, const CollectiveArgs&) = nullptr;
  // Predicted time for vectors of `bytes`, without the additions.
  double (*seconds)(const LinkCost&, int ranks, std::int64_t bytes, bool fixed_order) = nullptr;
};

// In place sums over all ranks of vectors of floats or doubles, preferred ones first.
List<Collective> allreduces();

// In place as well: rank r gets the sums of part r (part.h); its other elements are then undefined.
List<Collective> reduce_scatters();

// Every rank gives its part and gets those of the others, in place; elements of any type.
List<Collective> allgathers();

// The first of a list that this communicator supports.
Collective preferred(const List<Collective>& list, Communicator& communicator);

}  // namespace tutti
