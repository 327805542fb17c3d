// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/confusion.h"

#include "tutti/comm/collectives/collective.h"

#include <algorithm>

namespace tutti {
namespace {

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<ClassFigures> figures_of(const Confusion& confusion) {
  std::vector<ClassFigures> figures;
  for (std::int64_t c = 0; c < confusion.classes; ++c) {
    std::int64_t support = 0, predicted = 0;
    for (std::int64_t other = 0; other < confusion.classes; ++other) {
      support += confusion.at(c, other);
      predicted += confusion.at(other, c);
    }
    const std::int64_t right = confusion.at(c, c);
    figures.push_back({.precision = ratio(right, predicted),
                       .recall = ratio(right, support),
                       .f1 = ratio(2 * right, support + predicted),
                       .support = support});
  }
  return figures;
}

std::vector<ConfusedPair> most_confused(const Confusion& confusion, std::size_t most) {
  std::vector<ConfusedPair> pairs;
  for (std::int64_t truth = 0; truth < confusion.classes; ++truth)
    for (std::int64_t predicted = 0; predicted < confusion.classes; ++predicted)
      if (const std::int64_t count = confusion.at(truth, predicted);
          truth != predicted && count > 0)
        pairs.push_back({truth, predicted, count});
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const ConfusedPair& a, const ConfusedPair& b) { return a.count > b.count; });
  pairs.resize(std::min(pairs.size(), most));
  return pairs;
}

Confusion summed(const Confusion& confusion, Communicator& communicator) {
  if (communicator.size() == 1 || confusion.classes == 0) return confusion;
  // Doubles hold counts exactly.
  std::vector<double> counts(confusion.counts.begin(), confusion.counts.end());
  const CollectiveArgs args{.dtype = DType::f64,
                            .count = static_cast<std::int64_t>(counts.size()),
                            .tag = communicator.tags().of({.what = "confusion of classes"}),
                            .what = "the confusion matrix"};
  const auto operation = choose(allreduces(), "auto", communicator, args).make(communicator, args);
  operation->start(counts.data());
  wait(*operation, communicator);
  Confusion sum(confusion.classes);
  std::transform(counts.begin(), counts.end(), sum.counts.begin(),
                 [](double count) { return static_cast<std::int64_t>(count); });
  return sum;
}

}  // namespace tutti
