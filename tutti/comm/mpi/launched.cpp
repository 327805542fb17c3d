// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/mpi/mpi.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tutti {
namespace {

std::optional<int> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  int number = 0;
  const char* end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<LaunchedRank> launched_rank() {
  // Variables of Open MPI, of MPICH and its relatives, and of srun, which starts either.
  constexpr const char* names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                      {"PMI_RANK", "PMI_SIZE"},
                                      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank_name, ranks_name] : names) {
    const std::optional<int> rank = number_in(rank_name), ranks = number_in(ranks_name);
    if (rank && ranks && *ranks > 1) return LaunchedRank{*rank, *ranks};
  }
  return std::nullopt;
}

}  // namespace tutti
