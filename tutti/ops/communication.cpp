// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/communication.h"

#include "tutti/ops/traffic.h"

namespace tutti::ops {
namespace {

const Setting axes_setting{
    .name = "axes", .initial = std::string(), .doc = "mesh axes", .required = true};
const Setting message_setting{.name = "message",
                              .initial = std::string(),
                              .doc = "name, equal at both ends and of no other message",
                              .required = true};

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
    .doc = "the sum of x over the ranks of mesh axes",
    .settings = {axes_setting},
    .infer = [](const Settings&, const std::vector<Type>& in) { return std::vector<Type>{in[0]}; },
    // Every rank's x reaches every rank's y, so dx sums dy over the ranks.
    .gradient =
        [](Graph& graph, const Node& node, const std::vector<ValueId>& dy) {
          return graph.add(allreduce, {dy[0]}, node.settings);
        },
    .cost = cost,
    .in_place = {{0, 0}},
    .bf16 = true,
    .message = {.kind = MessageKind::allreduce, .copies_input = true},
};

const Op broadcast{
    .name = "broadcast",
    .doc = "x of the first rank, on all ranks of mesh axes",
    .settings = {axes_setting},
    .infer = [](const Settings&, const std::vector<Type>& in) { return std::vector<Type>{in[0]}; },
    .undifferentiable = "broadcast is placed after the backward pass has been made",
    .cost = cost,
    .in_place = {{0, 0}},
    .bf16 = true,
    .message = {.kind = MessageKind::broadcast, .copies_input = true},
};

const Op barrier{
    .name = "barrier",
    .doc = "nothing that follows begins before all ranks of mesh axes have come here",
    .settings = {axes_setting},
    .infer = [](const Settings&, const std::vector<Type>&) { return std::vector<Type>{}; },
    .undifferentiable = "barrier is placed after the backward pass has been made",
    .cost = cost,
    .message = {.kind = MessageKind::barrier},
};

const Op send{
    .name = "send",
    .doc = "x to another rank along mesh axes",
    .settings = {peer_setting("to", "place of the receiver in the group"), message_setting,
                 axes_setting},
    .infer = [](const Settings&, const std::vector<Type>&) { return std::vector<Type>{}; },
    .undifferentiable = "send is placed after the backward pass has been made",
    .cost = cost,
    .bf16 = true,
    .message = {.kind = MessageKind::send, .on_input = true},
};

const Op recv{
    .name = "recv",
    .doc = "x from another rank along mesh axes",
    .settings =
        {{.name = "shape", .initial = Shape{}, .doc = "extents; empty for a scalar", .min = 0},
         {.name = "dtype",
          .initial = std::string("f32"),
          .doc = "element type",
          .choices = {"f32", "f64", "i32", "i64", "u8", "bf16"}},
         peer_setting("from", "place of the sender in the group"),
         message_setting,
         axes_setting},
    .infer =
        [](const Settings& settings, const std::vector<Type>&) {
          return std::vector<Type>{
              {dtype_named(settings.text("dtype")), settings.integers("shape")}};
        },
    .undifferentiable = "recv is placed after the backward pass has been made",
    .cost = cost,
    .bf16 = true,
    .message = {.kind = MessageKind::receive},
};

}  // namespace tutti::ops
