// SPDX-License-Identifier: Apache-2.0
// Which classes are taken for which: counts of samples by true and predicted class, and what
// follows from them.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

class Communicator;

struct Confusion {
  std::int64_t classes = 0;               // 0: nothing was counted
  std::vector<std::int64_t> counts = {};  // true × predicted

  explicit Confusion(std::int64_t class_count = 0)
      : classes(class_count), counts(static_cast<std::size_t>(class_count * class_count)) {}

  std::int64_t& at(std::int64_t truth, std::int64_t predicted) {
    return counts[static_cast<std::size_t>(truth * classes + predicted)];
  }
  std::int64_t at(std::int64_t truth, std::int64_t predicted) const {
    return counts[static_cast<std::size_t>(truth * classes + predicted)];
  }
};

// Figures of one class. A ratio is 0 where its denominator is 0.
struct ClassFigures {
  double precision = 0;      // of the samples predicted as the class: the part that is of it
  double recall = 0;         // of the samples of the class: the part predicted as it
  double f1 = 0;             // harmonic mean of both
  std::int64_t support = 0;  // samples of the class
};

std::vector<ClassFigures> figures_of(const Confusion& confusion);

// A class that was taken for another one.
struct ConfusedPair {
  std::int64_t truth = 0, predicted = 0, count = 0;
  bool operator==(const ConfusedPair&) const = default;
};

// The pairs that were confused most often, at most `most`; of equals the lower classes first.
std::vector<ConfusedPair> most_confused(const Confusion& confusion, std::size_t most);

// The sum over all ranks, on each of them. Every rank calls this.
Confusion summed(const Confusion& confusion, Communicator& communicator);

}  // namespace tutti
