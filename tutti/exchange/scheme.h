// SPDX-License-Identifier: Apache-2.0
// How ranks train one network together, as a record of choices: when a rank may begin a step, in
// which steps it exchanges, who holds what, what of a block travels and in what form, and how the
// ranks' gradients are merged. Entries read their own settings, so a new entry changes nothing
// else.
#pragma once

#include "tutti/exchange/codecs/codec.h"
#include "tutti/exchange/gates/gate.h"
#include "tutti/exchange/merges/merge.h"
#include "tutti/exchange/payloads/payload.h"
#include "tutti/exchange/stores/store.h"
#include "tutti/exchange/triggers/trigger.h"

#include <cstdint>

namespace tutti {

struct Scheme {
  Gate gate = gates().find("sync");
  Trigger trigger = triggers().find("every");
  Store store = stores().find("all");
  Payload payload = payloads().find("auto");
  Codec codec = codecs().find("none");
  Merge merge = merges().find("sum");
  Settings settings = {}, codec_settings = {};  // of [exchange] and [codec], defaults filled in
  std::int64_t block_bytes = 1 << 20;           // neighbouring ranges are merged up to this size
  bool fixed_order = false;                     // ranks are summed in their order
};

}  // namespace tutti
