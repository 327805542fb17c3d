// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/communication.h"

#include "tutti/ops/traffic.h"

namespace tutti::ops {
namespace {

const Setting axis_setting{
    .name = "axis", .initial = std::string(), .doc = "mesh axis", .required = true};
const Setting tag_setting{
    .name = "tag", .initial = std::int64_t{0}, .doc = "tells messages of a pair apart", .min = 0};

Setting peer_setting(const char* name, const char* doc) {
  return {.name = name, .initial = std::int64_t{0}, .doc = doc, .min = 0, .required = true};
}

// Bytes at this rank; what travels depends on the algorithm that the communicator picks.
Cost cost(const Settings&, const std::vector<Type>& in, const std::vector<Type>& out) {
  return with_traffic({.depth = 1}, in, out);
}

}  // namespace

const Op allreduce{
    .name = "allreduce",
    .doc = "the sum of x over the ranks of a mesh axis",
    .settings = {axis_setting},
    .infer = [](const Settings&, const std::vector<Type>& in) { return std::vector<Type>{in[0]}; },
    // Every rank's x reaches every rank's y, so dx sums dy over the ranks.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(allreduce, {dy[0]}, node.settings);
        },
    .cost = cost,
    .in_place = {{0, 0}},
    .bf16 = true,
};

const Op send{
    .name = "send",
    .doc = "x to another rank of a mesh axis",
    .settings = {peer_setting("to", "coordinate of the receiver"), tag_setting, axis_setting},
    .infer = [](const Settings&, const std::vector<Type>&) { return std::vector<Type>{}; },
    .undifferentiable = "send is placed after the backward pass has been made",
    .cost = cost,
    .bf16 = true,
};

const Op recv{
    .name = "recv",
    .doc = "x from another rank of a mesh axis",
    .settings =
        {{.name = "shape", .initial = Shape{}, .doc = "extents; empty for a scalar", .min = 0},
         {.name = "dtype",
          .initial = std::string("f32"),
          .doc = "element type",
          .choices = {"f32", "f64", "i32", "u8", "bf16"}},
         peer_setting("from", "coordinate of the sender"),
         tag_setting,
         axis_setting},
    .infer =
        [](const Settings& settings, const std::vector<Type>&) {
          return std::vector<Type>{
              {dtype_named(settings.text("dtype")), settings.integers("shape")}};
        },
    .undifferentiable = "recv is placed after the backward pass has been made",
    .cost = cost,
    .bf16 = true,
};

}  // namespace tutti::ops
