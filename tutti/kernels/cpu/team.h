// SPDX-License-Identifier: Apache-2.0
// The OpenMP team of a rank: oneDNN and our own loops share it.
#pragma once

namespace tutti::cpu {

// Sets the size of the team. Must be called on the rank's own thread before any kernel is made, as
// oneDNN fixes its team when a primitive is made. Binds thread t of rank r to core r * threads + t
// of the cores that this process may use, when there are enough cores for all ranks and the user
// has not bound threads already (OMP_PROC_BIND, GOMP_CPU_AFFINITY).
void prepare_team(int threads, int rank, int ranks);

}  // namespace tutti::cpu
