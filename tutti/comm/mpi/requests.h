// SPDX-License-Identifier: Apache-2.0
// Requests of MPI that are under way, tested all at once: at every test MPI looks at all its
// sockets, which takes microseconds.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace tutti {

class MpiRequests {
 public:
  // Least seconds between two tests by MPI; 0: every test() of an incomplete request asks MPI.
  void set_pause(double seconds) { pause_seconds_ = seconds; }

  // Adds a request and returns its number, which is valid until test() has returned true.
  std::uint64_t add(MPI_Request request);
  // Whether the request with this number is complete; then `status` is its status, with the code of
  // an error in MPI_ERROR.
  bool test(std::uint64_t number, MPI_Status& status);
  // How many requests have become complete so far.
  std::int64_t completed() const { return completed_; }

 private:
  void ask();

  // By number of a request; statuses_ is valid where complete_ is set: MPI has completed the
  // request, and test() has not said so yet.
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<bool> complete_;
  std::vector<std::uint64_t> free_;
  // Room for the answers of MPI_Testsome.
  std::vector<int> found_;
  std::vector<MPI_Status> found_statuses_;
  double pause_seconds_ = 0, asked_ = 0;
  std::int64_t completed_ = 0;
};

}  // namespace tutti
