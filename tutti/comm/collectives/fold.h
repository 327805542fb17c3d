// SPDX-License-Identifier: Apache-2.0
// For algorithms that need 2^k ranks: each rank beyond the first 2^k gives its vector to one of
// them before, and gets the result back afterwards.
#pragma once

#include "tutti/comm/schedule.h"

#include <bit>

namespace tutti::collectives {

// `inside(ranks)` writes what the first 2^k ranks of the row do.
template <class Inside>
void fold_to_power_of_two(Steps& steps, const RankRow& row, int index, Part segment,
                          const Inside& inside) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(row.size)));
  const bool extra = index >= power, host = index < row.size - power;
  if (extra) steps.send(row.rank(index - power), segment);
  if (host) steps.receive_add(row.rank(index + power), segment);
  steps.next();
  if (!extra) inside(power);
  steps.next();
  if (extra) steps.receive(row.rank(index - power), segment);
  if (host) steps.send(row.rank(index + power), segment);
  steps.next();
}

}  // namespace tutti::collectives
