// SPDX-License-Identifier: Apache-2.0
// A job that fails can't end MPI as it should, since messages are under way. MPI_Abort ends it on
// all ranks, and is called by rank 0 when its program ends, after it has said why.
#include "tutti/comm/mpi/call.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/comm/mpi/transport.h"
#include "tutti/core/memory.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace tutti {
namespace {

// How long rank 1 waits for rank 0 to end the job, and how much longer each further rank does.
constexpr auto patience = std::chrono::seconds(4);
constexpr auto next_turn = std::chrono::milliseconds(500);

void abort_at_exit(int status, void*) {
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, status == 0 ? 1 : status);
}

// Rank 0 says why the job failed and ends it. When it does not, the next rank does, and so on; at
// once when rank 0 was not told.
[[noreturn]] void wait_for_the_end(int rank, const std::string& why, bool told) {
  if (told) std::this_thread::sleep_for(patience + (rank - 1) * next_turn);
  std::fprintf(stderr, "tutti: %s\n", why.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  ::_exit(1);
}

}  // namespace

bool has_mpi() { return true; }

void run_mpi_rank(const std::function<void(Communicator&)>& body) {
  // Urgent messages can't overtake what waits in the system's socket buffers, so these are kept
  // small. MPI libraries other than Open MPI ignore the variable, and a value that the user has set
  // stays.
  setenv("OMPI_MCA_btl_tcp_sndbuf", "131072", 0);
  int provided = 0;
  mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED)
    throw Error("this MPI does not allow several threads (MPI_THREAD_SERIALIZED), tutti needs two");
  auto transport = std::make_unique<MpiTransport>();
  const MpiTransport& process = *transport;  // which the communicator owns
  auto communicator = std::make_unique<Communicator>(std::move(transport));
  const int rank = communicator->rank();
  std::string why;
  bool told = false;
  try {
    body(*communicator);
    communicator->barrier();  // a rank that is done still hears of the failure of another
    communicator.reset();
    mpi(MPI_Finalize(), "MPI_Finalize");
    return;
  } catch (const std::exception& error) {
    const bool of_a_peer = dynamic_cast<const Aborted*>(&error) != nullptr;
    why = of_a_peer ? error.what() : Aborted(rank, failure_text(error)).what();
    told = process.tells();
    communicator->abort(failure_text(error));
    if (rank == 0) {
      // Ends the transport's thread; rank 0 has told all other ranks already.
      communicator.reset();
      ::on_exit(abort_at_exit, nullptr);
      throw;
    }
  }
  wait_for_the_end(rank, why, told);
}

}  // namespace tutti
