// SPDX-License-Identifier: Apache-2.0
// For algorithms that need 2^k ranks: each rank beyond them gives its vector to one of them before
// and has the result back afterwards.
#pragma once

#include "tutti/comm/schedule.h"

#include <bit>

namespace tutti::collectives {

// `inside(ranks)` writes what the first 2^k ranks of the group do.
template <class Inside>
void fold_to_power_of_two(Steps& steps, const Group& group, int index, Part segment,
                          const Inside& inside) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(group.size)));
  const bool extra = index >= power, host = index < group.size - power;
  if (extra) steps.send(group.rank(index - power), segment);
  if (host) steps.receive_add(group.rank(index + power), segment);
  steps.next();
  if (!extra) inside(power);
  steps.next();
  if (extra) steps.receive(group.rank(index - power), segment);
  if (host) steps.send(group.rank(index + power), segment);
  steps.next();
}

}  // namespace tutti::collectives
