// SPDX-License-Identifier: Apache-2.0
// What a rank and the endpoint of a store beside it say to each other besides the messages of
// steps.
#pragma once

#include "tutti/comm/tags.h"
#include "tutti/train/replica.h"

#include <array>
#include <cstdint>

namespace tutti {

// A command from a rank to its endpoint.
struct StoreCommand {
  enum Kind : std::int64_t {
    load,   // take your part of weights and states, and serve from `first_step` on
    fetch,  // give a copy of them back
    end,
  };
  std::int64_t kind = end;
  std::int64_t first_step = 0;
  std::int64_t block_bytes = 0;  // as ranks have agreed
};

// What the first rank asks for, and the step after which all ranks do it: ranks hear the word at
// different steps.
struct StoreWord {
  StopWord word = {};
  std::int32_t step = 0;
};

inline const MessageName store_command{store_axis, "a command to the store"};
inline const MessageName store_part{store_axis, "a part of the store"};
inline const MessageName store_question{store_axis, "what the first rank asks for"};
inline const MessageName store_answer{store_axis, "the step to stop after"};

}  // namespace tutti
