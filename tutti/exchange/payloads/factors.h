// SPDX-License-Identifier: Apache-2.0
// Gradients that travel as their factors. The gradient of a linear layer over a batch is a product
// dyᵀ x, with a row of dy and one of x for each sample. Where these have fewer elements than the
// gradient, ranks gather dy and x of the whole batch and multiply themselves: all rows of the
// gradient, or only those that they update, which is then no more work than before.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/core/flat.h"
#include "tutti/exchange/step_closing.h"
#include "tutti/graph/graph.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

// A linear layer with weights of its own.
struct LinearRange {
  std::int64_t offset = 0;  // of the range
  std::int64_t outputs = 0, inputs = 0;
  std::int64_t rows = 0;  // of its factors, on each rank
};

// Elements that a rank sends and receives: its factors, to every other rank; or gradients to a
// store that is cut over `servers` of the ranks, and weights back.
double factor_words(const LinearRange& layer, int ranks);
double store_words(const LinearRange& layer, int ranks, int servers);
// Elements that a rank sends so that the gradient is summed: reduce-scatter, and allgather unless
// ranks update their own parts.
double gradient_words_sent(const LinearRange& layer, int ranks, bool sharded);

// How a transport exchanges, in any order, and in what time as predicted.
struct ExchangeTimes {
  TransportFacts facts;
  std::string allgather, reduce_scatter, allreduce;  // by name
  bool sharded = false;                              // a rank updates its own part
  bool fixed_order = false;                          // ranks are summed in their order

  double of_factors(const LinearRange& layer, DType dtype) const;
  double of_gradient(const LinearRange& layer, DType dtype) const;
};

// The linear layers of a forward graph; rows are those of its batch.
std::vector<LinearRange> linear_ranges(const Graph& forward, const RangeTable& table);

// Whether parts of the gradient, and of its factors, can be whole rows and equal on all ranks.
bool can_exchange_factors(const LinearRange& layer, DType dtype, int ranks);

// Changes those gradients of closing.factored for which `pays`: they become products over the whole
// batch, of which this rank makes what it updates. All ranks have equally many samples.
void exchange_factors(Graph& graph, const RangeTable& table, DType dtype,
                      const StepClosing& closing, const std::string& axis,
                      const std::function<bool(const LinearRange&)>& pays);

// Which gradients travel as factors.
class FactorChoice {
 public:
  FactorChoice(Payload payload, ExchangeTimes times)
      : payload_(std::move(payload)), times_(std::move(times)) {}

  bool pays(const LinearRange& layer, DType dtype);
  // Those of a step of `batch` samples, of which the forward graph is. Who updates what depends on
  // it, so it holds for all steps.
  std::vector<LinearRange> among(const Graph& forward, const RangeTable& table, DType dtype,
                                 const StepClosing& closing, std::int64_t batch);

 private:
  const Payload payload_;
  const ExchangeTimes times_;
  // By outputs, inputs and rows. With many ranks it takes long to find out.
  std::map<std::array<std::int64_t, 3>, bool> pays_;
};

}  // namespace tutti
