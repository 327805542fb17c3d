// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/tags.h"

#include "tutti/core/error.h"

#include <cstdint>
#include <string_view>

namespace tutti {
namespace {

// FNV-1a: simple, and every byte counts.
std::uint64_t hash_of(const MessageName& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;  // ends a text: no byte of UTF-8 is 0xff
  };
  add(name.group);
  add(name.what);
  add(std::to_string(name.micro_batch));
  return hash ^ (hash >> 32);
}

}  // namespace

int Tags::of(const MessageName& name) {
  const int tag = static_cast<int>(hash_of(name) % end);
  const auto [found, is_new] = names_.try_emplace(tag, name);
  if (!is_new && found->second != name)
    throw Error(
        "the messages '{}' and '{}' would have the same number {}; another name of a layer, or "
        "another exchange.block_bytes, gives others",
        found->second.what, name.what, tag);
  return tag;
}

}  // namespace tutti
