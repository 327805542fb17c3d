// SPDX-License-Identifier: Apache-2.0
// Gradients that travel as their factors. The gradient of a linear layer over a batch is a product
// dyᵀ x, with a row of dy and one of x for each sample. Where dy and x have fewer elements than the
// gradient, ranks gather dy and x of the whole batch and multiply them: for all rows of the
// gradient, or only for those that the rank updates, which is no more work than without factors.
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
  std::int64_t offset = 0;  // of the range of its weights
  std::int64_t outputs = 0, inputs = 0;
  std::int64_t rows = 0;  // of each factor, on each rank
};

// Elements that a rank sends and receives: its factors, sent to every other rank; or its gradients,
// sent to a store that is cut over `servers` of the ranks, and the weights that come back.
double factor_elements(const LinearRange& layer, int ranks);
double store_elements(const LinearRange& layer, int ranks, int servers);
// Elements that a rank sends when the gradient is summed: in the reduce-scatter and, unless ranks
// update their own parts, in the allgather.
double gradient_words_sent(const LinearRange& layer, int ranks, bool sharded);

// What the time of an exchange depends on, and predicted times.
struct ExchangeTimes {
  TransportFacts facts;
  std::string allgather, reduce_scatter, allreduce;  // names of algorithms, or auto
  bool sharded = false;                              // a rank updates its own part
  bool fixed_order = false;                          // ranks are summed in their order

  // Seconds until a layer's gradient is summed: gathered as factors and multiplied, or as it is.
  double of_factors(const LinearRange& layer, DType dtype) const;
  double of_gradient(const LinearRange& layer, DType dtype) const;
};

// The linear layers of a forward graph; their rows are those of the graph's batch.
std::vector<LinearRange> linear_ranges(const Graph& forward, const RangeTable& table);

// Whether the gradient and its factors can be cut over ranks into equal parts of whole rows and
// whole cache lines.
bool can_exchange_factors(const LinearRange& layer, DType dtype, int ranks);

// Changes the gradients of closing.factored for which `pays` is true: they become products over the
// whole batch, of which this rank computes the rows that it updates. All ranks have equally many
// samples.
void exchange_factors(Graph& graph, const RangeTable& table, DType dtype,
                      const StepClosing& closing, const std::string& axis,
                      const std::function<bool(const LinearRange&)>& pays);

// Decides which gradients travel as factors.
class FactorChoice {
 public:
  FactorChoice(Payload payload, ExchangeTimes times)
      : payload_(std::move(payload)), times_(std::move(times)) {}

  // Whether the payload lets the gradient of such a layer travel as factors.
  bool pays(const LinearRange& layer, DType dtype);
  // The layers whose gradients travel as factors in a step of `batch` samples, which `forward` is
  // the forward graph of. Blocks, and so who updates what, depend on it: it holds for all steps.
  std::vector<LinearRange> among(const Graph& forward, const RangeTable& table, DType dtype,
                                 const StepClosing& closing, std::int64_t batch);

 private:
  const Payload payload_;
  const ExchangeTimes times_;
  // Answers of pays() by outputs, inputs and rows: with many ranks a prediction takes long.
  std::map<std::array<std::int64_t, 3>, bool> pays_;
};

}  // namespace tutti
