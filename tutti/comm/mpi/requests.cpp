// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/mpi/requests.h"

#include "tutti/comm/mpi/call.h"
#include "tutti/core/clock.h"

namespace tutti {

std::uint64_t MpiRequests::add(MPI_Request request) {
  if (free_.empty()) {
    const std::size_t count = requests_.size();
    requests_.push_back(MPI_REQUEST_NULL);
    statuses_.emplace_back();
    complete_.push_back(false);
    found_.push_back(0);
    found_statuses_.emplace_back();
    free_.reserve(count + 1);
    free_.push_back(count);
  }
  const std::uint64_t number = free_.back();
  free_.pop_back();
  requests_[number] = request;
  return number;
}

bool MpiRequests::test(std::uint64_t number, MPI_Status& status) {
  if (!complete_[number]) {
    if (pause_seconds_ > 0 && steady_seconds() - asked_ < pause_seconds_) return false;
    ask();
    if (!complete_[number]) return false;
  }
  status = statuses_[number];
  complete_[number] = false;
  free_.push_back(number);
  return true;
}

void MpiRequests::ask() {
  int count = 0;
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                found_.data(), found_statuses_.data());
  if (pause_seconds_ > 0) asked_ = steady_seconds();
  int kind = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
  if (kind != MPI_ERR_IN_STATUS) mpi(code, "MPI_Testsome");
  if (count == MPI_UNDEFINED) return;
  completed_ += count;
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    const auto number = static_cast<std::size_t>(found_[k]);
    statuses_[number] = found_statuses_[k];
    if (kind == MPI_SUCCESS) statuses_[number].MPI_ERROR = MPI_SUCCESS;
    complete_[number] = true;
  }
}

}  // namespace tutti
