// SPDX-License-Identifier: Apache-2.0
// Ranks are std::threads, never OpenMP threads: a rank has an OpenMP team of its own.
#include "tutti/comm/threads/threads.h"
#include "tutti/core/cores.h"

#include <thread>

namespace tutti {
namespace {

// Runs one rank; its own error aborts the job, a peer's has done so already.
void run_rank(Communicator& communicator, const std::function<void(Communicator&)>& body) {
  try {
    body(communicator);
  } catch (const Aborted&) {
  } catch (const std::exception& error) {
    communicator.abort(error.what());
  } catch (...) {
    communicator.abort("an exception of unknown type");
  }
}

}  // namespace

void run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  const auto communicators = thread_communicators(ranks);
  if (ranks == 1) return body(*communicators[0]);

  std::vector<std::jthread> threads;
  for (const auto& communicator : communicators)
    threads.emplace_back([&body, &communicator] {
      run_on_any_core();
      run_rank(*communicator, body);
    });
  for (std::jthread& thread : threads) thread.join();
  communicators[0]->check_aborted();
}

}  // namespace tutti
