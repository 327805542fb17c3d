// SPDX-License-Identifier: Apache-2.0
// Requests of MPI that are under way, asked for all at once: whenever it is asked, MPI looks at all
// its sockets, which takes microseconds.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace tutti {

class MpiRequests {
 public:
  // MPI is asked again after so long at the earliest; 0: whenever test() is.
  void set_pause(double seconds) { pause_seconds_ = seconds; }

  // Its number until test() has said true.
  std::uint64_t add(MPI_Request request);
  // Whether it is complete; then its status, with the code of an error in MPI_ERROR.
  bool test(std::uint64_t number, MPI_Status& status);
  // How many have become complete so far.
  std::int64_t completed() const { return completed_; }

 private:
  void ask();

  // By number; the status of those that are complete and have not been tested since.
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<bool> complete_;
  std::vector<std::uint64_t> free_;
  // What MPI answers.
  std::vector<int> found_;
  std::vector<MPI_Status> found_statuses_;
  double pause_seconds_ = 0, asked_ = 0;
  std::int64_t completed_ = 0;
};

}  // namespace tutti
