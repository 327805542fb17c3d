// SPDX-License-Identifier: Apache-2.0
// Ranks agree on which variants of operators were measured as fastest: all use rank 0's file of
// measurements. Checkpoints hold the choices as a note, so that training goes on bit for bit even
// if the file has changed since.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/kernels/selection.h"

#include <string>

namespace tutti {

// `selection` with the measurements of rank 0, and with a place to keep choices. Every rank calls
// this.
Selection agreed(Selection selection, Communicator& communicator);

// What all ranks chose, on rank 0; "" elsewhere. Every rank calls this.
std::string gather_choices(const Choices& choices, Communicator& communicator);
// The choices in such a text.
Choices::Variants choices_in(const std::string& note);

}  // namespace tutti
