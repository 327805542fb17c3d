// SPDX-License-Identifier: Apache-2.0
#include "cli/work_depth.h"

#include "cli/columns.h"
#include "tutti/cost/convolution_methods.h"
#include "tutti/cost/work_depth.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// A number as text: 107495424 → "107.5 M"; exact below ten thousand.
std::string count_text(double count) {
  if (count < 1e4) return fmt::format("{:.0f}", count);
  constexpr const char* units[] = {"k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  for (count /= 1e3; count >= 1e3 && unit + 1 < std::size(units); ++unit) count /= 1e3;
  return fmt::format("{:.4g} {}", count, units[unit]);
}

std::string operators_text(const WorkDepth& all) {
  Rows rows = {{"operator", "of", "nodes", "W", "D", "W/D", "formula of W", "formula of D",
                "D as the survey prints it"}};
  for (const OperatorRow& row : all.operators)
    rows.push_back({row.op, name_of(row.what), fmt::format("{}", row.nodes), count_text(row.work),
                    count_text(row.depth), count_text(row.work / std::max(row.depth, 1.0)),
                    row.work_formula, row.depth_formula,
                    row.printed_depth == row.depth_formula ? "" : row.printed_depth});
  return in_columns(rows);
}

std::string layers_text(const WorkDepth& all) {
  Rows rows = {{"layer", "W y", "D", "W ∇x", "D", "W ∇w", "D", "W/D"}};
  const auto add = [&](const std::string& name, const Cost& y, const Cost& dx, const Cost& dw) {
    const Cost sum{.work = y.work + dx.work + dw.work,
                   .depth = y.depth + std::max(dx.depth, dw.depth)};
    rows.push_back({name, count_text(y.work), count_text(y.depth), count_text(dx.work),
                    count_text(dx.depth), count_text(dw.work), count_text(dw.depth),
                    count_text(parallelism(sum))});
  };
  for (const LayerRow& row : all.layers) add(row.name, row.y, row.dx, row.dw);
  return in_columns(rows);
}

std::string geometry_text(const ops::Geometry& g) {
  return fmt::format("{}×{} -> {}, {}", g.n, g.c, g.o, to_string(g.kernel));
}

std::string convolutions_text(const std::vector<ConvolutionRow>& all) {
  Rows rows = {{"convolution", "N×Cin -> Cout, K", "output", "W direct, im2col", "D", "W FFT", "D",
                "W Winograd", "D", "least work"}};
  for (const ConvolutionRow& row : all) {
    const double winograd = row.winograd ? row.winograd->work : row.direct.work;
    const char* least = row.fft.work < std::min(row.direct.work, winograd) ? "FFT"
                        : winograd < row.direct.work                       ? "Winograd"
                                                                           : "direct";
    rows.push_back(
        {row.name, geometry_text(row.geometry), to_string(row.geometry.pixels),
         count_text(row.direct.work), count_text(row.direct.depth), count_text(row.fft.work),
         count_text(row.fft.depth),
         row.winograd ? fmt::format("{} (m = {})", count_text(winograd), row.winograd_m) : "-",
         row.winograd ? count_text(row.winograd->depth) : "-", least});
  }
  return in_columns(rows);
}

std::string totals_text(const WorkDepth& all) {
  Rows rows = {{"", "W", "D", "W/D"}};
  const auto add = [&](const char* name, const Cost& cost) {
    rows.push_back(
        {name, count_text(cost.work), count_text(cost.depth), count_text(parallelism(cost))});
  };
  add("forward", all.forward);
  add("backward", all.backward);
  add("both", all.step);
  return in_columns(rows);
}

std::string processors_text(const Cost& step) {
  Rows rows = {{"p", "max(W/p, D)", "W/p + D"}};
  for (const int p : {1, 2, 8, 64, 1024}) {
    const ScheduleBounds bounds = schedule_bounds(step, p);
    rows.push_back({fmt::format("{}", p), count_text(bounds.least), count_text(bounds.most)});
  }
  return in_columns(rows);
}

}  // namespace

std::string work_depth_text(Net net) {
  const int forward_origins = net.graph.next_origin;
  differentiate(net.graph, net.loss, net.table, net.parameters);
  remove_dead_code(net.graph);
  const WorkDepth all = work_depth(net.graph, forward_origins);
  const auto convolutions = convolution_methods(net.graph);
  std::string text =
      "\nWork W and depth D of a training step by operator (D: of the deepest; formulas: Table 4 "
      "of "
      "the survey, corrected where its print stands beside)\n" +
      operators_text(all) + "\nBy layer: output, gradient by x, gradient by w\n" + layers_text(all);
  if (!convolutions.empty())
    text += fmt::format(
        "\nConvolutions by method, forward (an FFT of n points counts {}·n·log2 n; Winograd's "
        "tiles are m + r − 1 wide and their transforms count, not as Table 6 of the survey "
        "prints it)\n{}",
        fft_constant, convolutions_text(convolutions));
  return text + "\nIn all: work adds up, depth is the longest path\n" + totals_text(all) +
         "\nOperations in sequence on p processors: max(W/p, D) <= T_p <= W/p + D\n" +
         processors_text(all.step);
}

}  // namespace tutti::cli
