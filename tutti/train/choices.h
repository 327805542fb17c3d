// SPDX-License-Identifier: Apache-2.0
// Ranks agree on what was measured, and checkpoints remember what was chosen: rank 0's file of
// measured variants is everybody's, and what a run chose is a note of its checkpoint, so that it
// goes on bit for bit even if the file has changed since.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/kernels/selection.h"

#include <string>

namespace tutti {

// `selection` with what rank 0 knows, and with a place to keep choices. Every rank calls this.
Selection agreed(Selection selection, Communicator& communicator);

// What all ranks chose, on rank 0; "" elsewhere. Every rank calls this.
std::string gather_choices(const Choices& choices, Communicator& communicator);
// The inverse.
Choices::Variants choices_in(const std::string& note);

}  // namespace tutti
