// SPDX-License-Identifier: Apache-2.0
// For algorithms that need 2^k ranks: each rank beyond the first 2^k gives its vector to one of
// them before, and gets the result back afterwards.
#pragma once

#include "tutti/comm/schedule.h"

#include <bit>

namespace tutti::collectives {

// `inside(ranks)` writes what the first 2^k ranks of the row do.
template <class Inside>
void fold_to_power_of_two(Phases& phases, const RankRow& row, int index, Part segment,
                          const Inside& inside) {
  const int power = static_cast<int>(std::bit_floor(static_cast<unsigned>(row.size)));
  const bool extra = index >= power, host = index < row.size - power;
  if (extra) phases.send(row.rank(index - power), segment);
  if (host) phases.receive_add(row.rank(index + power), segment);
  phases.next();
  if (!extra) inside(power);
  phases.next();
  if (extra) phases.receive(row.rank(index - power), segment);
  if (host) phases.send(row.rank(index + power), segment);
  phases.next();
}

}  // namespace tutti::collectives
