// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/payloads/payload.h"

namespace tutti {

extern const Payload factors_payload, auto_payload;

List<Payload> payloads() {
  return {
      "payload",
      {auto_payload, {.name = "gradient", .doc = "gradients travel as they are"}, factors_payload}};
}

}  // namespace tutti
