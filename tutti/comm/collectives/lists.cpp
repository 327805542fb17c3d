// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/algorithms.h"

namespace tutti {

List<Collective> allreduces() {
  return {"allreduce", {collectives::direct(), collectives::ring()}};
}

List<Collective> reduce_scatters() {
  return {"reduce_scatter",
          {collectives::direct_reduce_scatter(), collectives::ring_reduce_scatter()}};
}

List<Collective> allgathers() {
  return {"allgather", {collectives::direct_allgather(), collectives::ring_allgather()}};
}

Collective preferred(const List<Collective>& list, Communicator& communicator) {
  for (const Collective& candidate : list)
    if (candidate.supports(communicator)) return candidate;
  check(false, "ring works on every transport");
  return {};
}

namespace collectives {

void require_summable(const char* what, const CollectiveArgs& args) {
  if (!is_float(args.dtype)) throw Error("{} adds f32 or f64, not {}", what, name_of(args.dtype));
  check(args.count >= 0, "a vector has no negative length");
}

void require_shared_memory(const char* what, Communicator& communicator) {
  if (!communicator.shared())
    throw Error("{} 'direct' needs ranks that share memory; use 'ring'", what);
}

}  // namespace collectives
}  // namespace tutti
