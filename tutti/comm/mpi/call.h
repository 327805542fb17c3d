// SPDX-License-Identifier: Apache-2.0
// Calls of MPI that must succeed: mpi(MPI_Barrier(…), "MPI_Barrier").
#pragma once

#include "tutti/core/error.h"

#include <mpi.h>

#include <string>

namespace tutti {

inline std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return {text, static_cast<std::size_t>(length)};
}

inline void mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error("{} failed: {}", call, mpi_text(code));
}

}  // namespace tutti
