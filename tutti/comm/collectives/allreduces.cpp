// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/allreduce.h"

namespace tutti {

List<Collective> allreduces() {
  return {"allreduce", {collectives::direct(), collectives::ring()}};
}

Collective preferred_allreduce(Communicator& communicator) {
  for (const Collective& candidate : allreduces())
    if (candidate.supports(communicator)) return candidate;
  check(false, "ring works on every transport");
  return {};
}

namespace collectives {

void require_summable(const CollectiveArgs& args) {
  if (!is_float(args.dtype)) throw Error("allreduce adds f32 or f64, not {}", name_of(args.dtype));
  check(args.count >= 0, "a vector has no negative length");
}

}  // namespace collectives
}  // namespace tutti
