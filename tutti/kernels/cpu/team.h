// SPDX-License-Identifier: Apache-2.0
// The OpenMP team of a rank: oneDNN and our own loops share it.
#pragma once

namespace tutti::cpu {

// Called on the rank's own thread before any kernel is made: oneDNN fixes its team when a primitive
// is made. Binds thread t of rank r to core r * threads + t of those this process may use, when all
// ranks find room and the user has not bound threads already (OMP_PROC_BIND, GOMP_CPU_AFFINITY).
void prepare_team(int threads, int rank, int ranks);

}  // namespace tutti::cpu
