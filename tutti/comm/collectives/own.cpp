// SPDX-License-Identifier: Apache-2.0
// The allreduce that a transport brings itself: that of the MPI library. How it works is not known,
// so its price is that of the better of two textbook algorithms.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/price.h"
#include "tutti/comm/collectives/run_schedule.h"

#include <algorithm>

namespace tutti::collectives {

Collective own_allreduce(bool blocks) {
  return {
      .name = blocks ? "mpi-blocking" : "mpi",
      .doc = "that of the MPI library; with order = \"fixed\" the chain in its place",
      .supports = [](const TransportFacts& facts) { return facts.own_allreduce; },
      .make = [blocks](const Group& group,
                       const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable("allreduce", args);
        Communicator& communicator = group.communicator();
        if (!group.facts().own_allreduce)
          throw Error("allreduce 'mpi' needs all ranks, and that MPI has started them; use 'ring'");
        check(args.combine == nullptr, "MPI adds");
        if (!args.fixed_order && communicator.checks_messages())
          throw Error(
              "allreduce 'mpi' sends by means of the MPI library, where exchange.verify can't see "
              "it; use 'auto', or verify = 0");
        if (!args.fixed_order) return communicator.own_allreduce(args, blocks);
        const Problem problem{communicator.size(), args.count, args.dtype};
        return run_schedule(communicator, chain_allreduce(problem, communicator.rank()), args,
                            args.count);
      },
      .seconds =
          [](const Network& network, int ranks, std::int64_t bytes, bool fixed_order) {
            const Problem problem{ranks, bytes / bytes_of(DType::f32), DType::f32};
            const auto seconds = [&](Algorithm algorithm) {
              return price(schedule_of(algorithm, problem), network);
            };
            // Where the prices are equal our own schedules win: their messages can be seen and
            // overlapped.
            constexpr double dearer = 1.05;
            return dearer * (fixed_order
                                 ? seconds(chain_allreduce)
                                 : std::min(seconds(butterfly_allreduce), seconds(ring_allreduce)));
          },
  };
}

}  // namespace tutti::collectives
