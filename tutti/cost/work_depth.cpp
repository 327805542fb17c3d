// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/work_depth.h"

#include "tutti/graph/op.h"
#include "tutti/ops/add.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/normalise.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace tutti {
namespace {

struct Formula {
  const char *op, *work, *depth;
  Evaluates what = Evaluates::y;
  const char* printed_depth = depth;
};

constexpr const char* elements_text = "N·C·H·W";
constexpr const char* products_text = "N·Cout·Cin·H'·W'·Ky·Kx";
constexpr const char* output_depth = "log Cin + log Ky + log Kx";  // of a convolution

// Table 4, corrected: the survey gives both gradients of a convolution the depth of its output
// (erratum 5), and batch normalisation sums over N only (erratum 15: N, H and W).
constexpr std::array formulas = {
    Formula{"relu", elements_text, "1"},
    Formula{"relu_grad", elements_text, "1", Evaluates::dx},
    Formula{"leaky_relu", elements_text, "1"},
    Formula{"leaky_relu_grad", elements_text, "1", Evaluates::dx},
    Formula{"sigmoid", elements_text, "1"},
    Formula{"sigmoid_grad", elements_text, "1", Evaluates::dx},
    Formula{"tanh", elements_text, "1"},
    Formula{"tanh_grad", elements_text, "1", Evaluates::dx},
    Formula{"gelu", elements_text, "1"},
    Formula{"gelu_grad", elements_text, "1", Evaluates::dx},
    Formula{"matmul", "N·Cout·Cin", "log Cin"},
    Formula{"matmul", "N·Cout·Cin", "log N", Evaluates::dw},
    Formula{"matmul", "N·Cout·Cin", "log Cout", Evaluates::dx},
    Formula{"convolution", products_text, output_depth},
    Formula{"convolution_grad_weight", products_text, "log N + log H' + log W'", Evaluates::dw,
            output_depth},
    Formula{"convolution_grad_input", products_text, "log Cout + log Ky + log Kx", Evaluates::dx,
            output_depth},
    Formula{"max_pool", elements_text, "log Ky + log Kx"},
    Formula{"max_pool_grad", elements_text, "1", Evaluates::dx},
    Formula{"average_pool", elements_text, "log Ky + log Kx"},
    Formula{"average_pool_grad", elements_text, "1", Evaluates::dx},
    Formula{"channel_sums", elements_text, "log N·H·W", Evaluates::y, "log N"},
    Formula{"normalise", elements_text, "1"},
    Formula{"normalise_sums", elements_text, "log N·H·W", Evaluates::dw, "log N"},
    Formula{"normalise_grad_input", elements_text, "1", Evaluates::dx},
    Formula{"channel_sums_grad", elements_text, "1", Evaluates::dx},
};

// Whether the node only passes gradients of parameters on, so that its inputs are such gradients.
bool passes_on(const Node& node) {
  return node.op == &ops::add || node.op == &ops::copy || node.op->view ||
         node.op == &ops::normalise_grad_parameters;
}

std::vector<OperatorRow> operator_rows(const Graph& step, const std::vector<Evaluates>& what) {
  std::map<std::pair<std::string, Evaluates>, OperatorRow> rows;
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    const Node& node = step.nodes[i];
    const Cost cost = cost_of_node(step, node);
    if (cost.work == 0) continue;
    OperatorRow& row = rows[{node.op->name, what[i]}];
    row.op = node.op->name;
    row.what = what[i];
    ++row.nodes;
    row.work += cost.work;
    row.depth = std::max(row.depth, cost.depth);
  }
  std::vector<OperatorRow> sorted;
  for (auto& [key, row] : rows) {
    for (const Formula& formula : formulas)
      if (row.op == formula.op && row.what == formula.what)
        row.work_formula = formula.work, row.depth_formula = formula.depth,
        row.printed_depth = formula.printed_depth;
    sorted.push_back(std::move(row));
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const OperatorRow& a, const OperatorRow& b) { return a.work > b.work; });
  return sorted;
}

std::vector<LayerRow> layer_rows(const Graph& step, const std::vector<Evaluates>& what) {
  std::vector<std::string> names;
  std::map<std::string, std::map<Evaluates, std::vector<int>>> nodes;
  for (std::size_t i = 0; i < step.nodes.size(); ++i) {
    const std::string& name = step.nodes[i].name;
    if (name.empty()) continue;
    if (what[i] == Evaluates::y && nodes.find(name) == nodes.end()) names.push_back(name);
    nodes[name][what[i]].push_back(static_cast<int>(i));
  }
  std::vector<LayerRow> rows;
  for (const std::string& name : names) {
    auto& parts = nodes[name];
    rows.push_back({name, cost_of_nodes(step, parts[Evaluates::y]),
                    cost_of_nodes(step, parts[Evaluates::dx]),
                    cost_of_nodes(step, parts[Evaluates::dw])});
  }
  return rows;
}

}  // namespace

const char* name_of(Evaluates what) {
  constexpr std::array names = {"y", "∇x", "∇w"};
  return names[static_cast<std::size_t>(what)];
}

std::vector<Evaluates> evaluations(const Graph& step, int forward_origins) {
  const auto users = consumers(step);
  std::vector<Evaluates> what(step.nodes.size(), Evaluates::y);
  for (std::size_t i = step.nodes.size(); i-- > 0;) {
    const Node& node = step.nodes[i];
    if (node.origin < forward_origins) continue;
    const auto is_gradient = [&](ValueId id) {
      if (step.value(id).place.base == Base::gradients) return true;
      const auto& readers = users[static_cast<std::size_t>(id)];
      return std::any_of(readers.begin(), readers.end(), [&](NodeId reader) {
        return what[static_cast<std::size_t>(reader)] == Evaluates::dw &&
               passes_on(step.nodes[static_cast<std::size_t>(reader)]);
      });
    };
    const bool of_parameters = std::any_of(node.outputs.begin(), node.outputs.end(), is_gradient);
    what[i] = of_parameters ? Evaluates::dw : Evaluates::dx;
  }
  return what;
}

ScheduleBounds schedule_bounds(const Cost& cost, double processors) {
  return {std::max(cost.work / processors, cost.depth), cost.work / processors + cost.depth};
}

double parallelism(const Cost& cost) { return cost.work / std::max(cost.depth, 1.0); }

WorkDepth work_depth(const Graph& step, int forward_origins) {
  const std::vector<Evaluates> what = evaluations(step, forward_origins);
  std::vector<int> all(step.nodes.size()), forward, backward;
  std::iota(all.begin(), all.end(), 0);
  for (const int i : all)
    (what[static_cast<std::size_t>(i)] == Evaluates::y ? forward : backward).push_back(i);
  return {operator_rows(step, what), layer_rows(step, what), cost_of_nodes(step, forward),
          cost_of_nodes(step, backward), cost_of_nodes(step, all)};
}

}  // namespace tutti
