// SPDX-License-Identifier: Apache-2.0
#include "tutti/ops/send_recv.h"

#include "tutti/ops/shared/message.h"

namespace tutti::ops {
namespace {

Setting message_setting() {
  return {.name = "message",
          .initial = std::string(),
          .doc = "name, equal at both ends and of no other message",
          .required = true};
}

Setting peer_setting(const char* name, const char* doc) {
  return {.name = name, .initial = std::int64_t{0}, .doc = doc, .min = 0, .required = true};
}

}  // namespace

const Op send{
    .name = "send",
    .doc = "x to another rank along mesh axes",
    .settings = {peer_setting("to", "place of the receiver in the group"), message_setting(),
                 axes_setting()},
    .infer = [](const Settings&, const std::vector<Type>&) { return std::vector<Type>{}; },
    .undifferentiable = "send is placed after the backward pass has been made",
    .cost = message_cost,
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
         message_setting(),
         axes_setting()},
    .infer =
        [](const Settings& settings, const std::vector<Type>&) {
          return std::vector<Type>{
              {dtype_named(settings.text("dtype")), settings.integers("shape")}};
        },
    .undifferentiable = "recv is placed after the backward pass has been made",
    .cost = message_cost,
    .bf16 = true,
    .message = {.kind = MessageKind::receive},
};

}  // namespace tutti::ops
