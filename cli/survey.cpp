// SPDX-License-Identifier: Apache-2.0
#include "cli/survey.h"

#include "cli/columns.h"
#include "tutti/nn/describe.h"
#include "tutti/ops/convolution.h"
#include "tutti/ops/matmul.h"

#include <algorithm>

namespace tutti::cli {
namespace {

// Ben-Nun and Hoefler, "Demystifying Parallel and Distributed Deep Learning", Table 5. Where the
// table gives a range, its ends are listed with the networks that have them; "–": not given.
struct Printed {
  const char *network, *model, *parameters, *multiply_adds;
};

constexpr Printed printed[] = {
    {"LeNet-5", "lenet5", "60K", "–"},
    {"AlexNet", "alexnet", "61M", "725M"},
    {"GoogLeNet", "googlenet", "6.8M", "1,566M"},
    {"ResNet-110 (CIFAR)", "resnet110", "1.7M", "–"},
    {"ResNet-50", "resnet50", "–", "about 1,000M"},
    {"ResNet-152", "resnet152", "60.2M", "about 2,300M"},
    {"DenseNet-BC 250, 24 (CIFAR)", "densenet_bc250_24", "15.3M", "–"},
    {"DenseNet-121", "densenet121", "–", "about 600M"},
    {"DenseNet-264", "densenet264", "–", "about 1,130M"},
};

// The number of operators with weights on the path that has most of them.
int layers_of(const Graph& graph) {
  std::vector<int> longest(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    int before = 0;
    for (const ValueId id : node.inputs)
      if (id != no_value) before = std::max(before, longest[static_cast<std::size_t>(id)]);
    const bool weighted = node.op == &ops::convolution || node.op == &ops::matmul;
    for (const ValueId id : node.outputs)
      longest[static_cast<std::size_t>(id)] = before + (weighted ? 1 : 0);
  }
  return *std::max_element(longest.begin(), longest.end());
}

}  // namespace

std::string survey_table() {
  const List<Model> all = models();
  std::vector<std::vector<std::string>> rows = {
      {"", "parameters", "", "multiply–adds", "", "layers", "W/D"},
      {"network", "survey", "counted", "survey", "counted", "counted", "counted"}};
  for (const Printed& row : printed) {
    const Model& model = all.find(row.model);
    const Net net = build_net(
        model, {}, {.fields = input_and_labels(model.sample_shape), .classes = model.classes});
    const Cost cost = forward_cost(net);
    rows.push_back({row.network, row.parameters,
                    grouped(static_cast<double>(net.table.parameters(true))), row.multiply_adds,
                    grouped(cost.multiply_adds), std::to_string(layers_of(net.graph)),
                    grouped(cost.work / cost.depth)});
  }
  return in_columns(rows);
}

}  // namespace tutti::cli
