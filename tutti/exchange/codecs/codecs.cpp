// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/codecs/codec.h"

namespace tutti {

extern const Codec bf16_codec;

List<Codec> codecs() {
  return {"codec", {{.name = "none", .doc = "blocks travel as they are"}, bf16_codec}};
}

}  // namespace tutti
