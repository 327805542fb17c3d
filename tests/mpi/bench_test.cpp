// SPDX-License-Identifier: Apache-2.0
// mpirun tutti bench: every collective between processes, its results checked by the bench itself.
#include "mpi/mpirun.h"

namespace tutti {
namespace {

TEST(MpiBench, SweepsEveryCollective_D01_D08) {
  const TemporaryFolder folder;
  for (const char* kind : {"allreduce", "reduce", "reduce-scatter", "broadcast", "allgather",
                           "all-to-all", "neighbour-exchange"}) {
    const Launched run = on_ranks(
        folder, 3,
        fmt::format("{} bench {} --min 1KB --max 4KB --rounds 1", quoted(TUTTI_CLI), kind));
    EXPECT_EQ(run.code, 0) << run.err;
    for (const std::string& part :
         {fmt::format("{} of 3 ranks over mpi", kind), std::string("results are exact")})
      EXPECT_NE(run.out.find(part), std::string::npos) << run.out;
  }
}

}  // namespace
}  // namespace tutti
