// SPDX-License-Identifier: Apache-2.0
// Collectives: operations of all ranks of a group on equal vectors, each algorithm a file beside
// this and a line in lists.cpp. An Operation is made once with a tag; operations with different
// tags may be in flight together and be started in any order.
#pragma once

#include "tutti/comm/group.h"
#include "tutti/comm/network.h"
#include "tutti/comm/schedule.h"
#include "tutti/core/dtype.h"
#include "tutti/core/list.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace tutti {

// into[i] = into[i] ∘ from[i] for `count` elements, where a ∘ b = b ∘ a.
using Combine = void (*)(void* into, const void* from, std::int64_t count);

// What a collective works on and how, the same on all ranks.
struct CollectiveArgs {
  DType dtype = DType::f32;
  std::int64_t count = 0;  // elements
  int tag = 0;
  bool fixed_order = false;           // add in rank order per element: ((x0 + x1) + x2) + …
  int node_ranks = 0;                 // ranks per node for 'hierarchical'; 0: as the transport says
  const char* what = "a collective";  // its name in errors; lives as long as the communicator
  int urgency = 0;                    // see Operation
  Combine combine = nullptr;          // nullptr: elements are added
};

// One algorithm of a collective, as the lists below hold them.
struct Collective {
  std::string name;
  std::string doc;
  // Whether it works on a transport.
  std::function<bool(const TransportFacts&)> supports;
  std::function<std::unique_ptr<Operation>(const Group&, const CollectiveArgs&)> make;
  // Predicted seconds for vectors of `bytes` bytes.
  std::function<double(const Network&, int ranks, std::int64_t bytes, bool fixed_order)> seconds;
  // The actions of all ranks; empty where the algorithm is no schedule.
  std::function<collectives::Schedule(const collectives::Problem&, bool fixed_order)> schedule = {};
  // The actions of one rank; empty where `schedule` is.
  std::function<collectives::Actions(const collectives::Problem&, int rank, bool fixed_order)>
      actions = {};
  // choose() does not take it for longer vectors.
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
};

// Sums in place over the ranks of a group, of vectors of f32, f64 or bf16; with bf16 each addition
// is rounded.
List<Collective> allreduces();

// In place as well: rank r gets the sums of part r (part.h); its other elements are then undefined.
List<Collective> reduce_scatters();

// In place: rank 0 gets the sums; the elements of the others are then undefined.
List<Collective> reduces();

// Every rank gives its part and gets those of the others, in place; elements of any type, as in all
// that follow.
List<Collective> allgathers();

// Every rank gets the vector of rank 0.
List<Collective> broadcasts();

// The vector holds a block for each rank; block q of rank r becomes block r of rank q.
List<Collective> all_to_alls();

// The vector holds `count` elements that go to all neighbours, and then as many from each of them.
List<Collective> neighbour_exchanges();

// The algorithm of this name. "auto": where memory is shared, the one that uses it; else the one
// that is predicted to be fastest for these vectors on this transport. `facts` are those of the
// group (Group::facts).
Collective choose(const List<Collective>& list, const std::string& name,
                  const TransportFacts& facts, const CollectiveArgs& args);
inline Collective choose(const List<Collective>& list, const std::string& name, const Group& group,
                         const CollectiveArgs& args) {
  return choose(list, name, group.facts(), args);
}

}  // namespace tutti
