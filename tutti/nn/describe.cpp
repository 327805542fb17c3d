// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/describe.h"

#include "tutti/graph/op.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tutti {
namespace {

using Row = std::array<std::string, 7>;  // one cell for each column of the table

Row row_of(const std::string& name, const std::string& type, const std::string& output,
           std::int64_t parameters, const Cost& cost) {
  return {name,
          type,
          output,
          grouped(static_cast<double>(parameters)),
          grouped(cost.multiply_adds),
          grouped(cost.work),
          grouped(cost.depth)};
}

Row row_of(const Net& net, const LayerInfo& layer) {
  std::int64_t parameters = 0;
  for (const int i : layer.ranges)
    parameters += net.table.ranges[static_cast<std::size_t>(i)].count;
  return row_of(layer.name, layer.type, to_string(net.graph.shape(layer.output)), parameters,
                cost_of_nodes(net.graph, layer.first_node, layer.last_node));
}

// The number of characters, not bytes: shapes contain "×".
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// The rows as aligned columns: names to the left, numbers to the right, two blanks between columns.
std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, 7> widths{};
  for (const Row& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width_of(row[c]), ' ');
      text += (c > 0 ? "  " : "") + (c < 2 ? row[c] + blanks : blanks + row[c]);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string grouped(double number) {
  std::string text = fmt::format("{:.0f}", number);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3)
    text.insert(static_cast<std::size_t>(i), ",");
  return text;
}

Cost forward_cost(const Net& net) {
  return cost_of_nodes(net.graph, 0, net.graph.value(net.loss).producer + 1);
}

std::string describe(const Net& net) {
  std::vector<Row> rows{
      {"layer", "type", "output", "parameters", "multiply–adds", "work W", "depth D"}};
  for (const LayerInfo& layer : net.layers) rows.push_back(row_of(net, layer));
  const Cost cost = forward_cost(net);
  rows.push_back(row_of("total", "", "", net.table.parameters(false), cost));
  const std::int64_t trainable = net.table.parameters(true);
  return aligned(rows) +
         fmt::format(
             "\n{} trainable parameters, {} fixed; forward pass of a batch of {}: W/D = {}\n",
             grouped(static_cast<double>(trainable)),
             grouped(static_cast<double>(net.table.parameters(false) - trainable)),
             net.graph.shape(net.input)[0], grouped(cost.work / std::max(cost.depth, 1.0)));
}

}  // namespace tutti
