// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sealed_messages.h"

#include "tutti/core/error.h"
#include "tutti/core/rng.h"

#include <bit>
#include <cstring>

namespace tutti {
namespace {

struct Seal {
  std::uint64_t number, checksum;
};
static_assert(sizeof(Seal) == seal_bytes);

std::byte* seal_of(SealedMessage& message) { return message.sealed.data() + message.bytes; }

// A checksum over the bytes, the number that the message carries, and what both ends know.
std::uint64_t checksum_of(const SealedMessage& message, std::uint64_t number) {
  std::uint64_t key = number;
  for (const std::int64_t word : {std::int64_t{message.from}, std::int64_t{message.to},
                                  std::int64_t{message.tag}, message.bytes})
    key = fold(key, static_cast<std::uint64_t>(word));
  return tutti::checksum_of(message.sealed.data(), message.bytes, key);
}

}  // namespace

// Each word goes through a bijection of the state, so no single change can be undone by the rest.
std::uint64_t checksum_of(const std::byte* data, std::int64_t bytes, std::uint64_t key) {
  constexpr std::int64_t word_bytes = sizeof(std::uint64_t);
  std::uint64_t state = key;
  const auto take = [&](std::int64_t begin, std::int64_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, data + begin, static_cast<std::size_t>(count));
    state = std::rotl((state ^ word) * 0x9e3779b97f4a7c15ull, 29);
  };
  std::int64_t begin = 0;
  for (; begin + word_bytes <= bytes; begin += word_bytes) take(begin, word_bytes);
  if (begin < bytes) take(begin, bytes - begin);
  return mix(state);
}

SealedMessage& SealedMessages::next(std::int64_t bytes, int from, int to, int tag) {
  if (free_.empty()) free_.push_back(&all_.emplace_back());
  SealedMessage& message = *free_.back();
  free_.pop_back();
  message.from = from;
  message.to = to;
  message.tag = tag;
  message.bytes = bytes;
  message.number = ++numbers_[{from, to, tag}];
  message.sealed.resize(static_cast<std::size_t>(bytes) + sizeof(Seal));
  return message;
}

SealedMessage& SealedMessages::seal(const void* data, std::int64_t bytes, int from, int to,
                                    int tag) {
  SealedMessage& message = next(bytes, from, to, tag);
  message.incoming = false;
  if (bytes > 0) std::memcpy(message.sealed.data(), data, static_cast<std::size_t>(bytes));
  const Seal seal{message.number, checksum_of(message, message.number)};
  std::memcpy(seal_of(message), &seal, sizeof seal);
  return message;
}

SealedMessage& SealedMessages::expect(void* data, std::int64_t bytes, int from, int to, int tag) {
  SealedMessage& message = next(bytes, from, to, tag);
  message.incoming = true;
  message.target = data;
  return message;
}

void SealedMessages::open(SealedMessage& message) {
  free_.push_back(&message);
  if (!message.incoming) return;
  Seal seal{};
  std::memcpy(&seal, seal_of(message), sizeof seal);
  if (checksum_of(message, seal.number) != seal.checksum)
    throw Error(
        "message {} with tag {} from rank {} to rank {} ({} bytes) has changed on the way: its "
        "checksum is wrong (exchange.verify)",
        message.number, message.tag, message.from, message.to, message.bytes);
  if (seal.number != message.number)
    throw Error(
        "message {} with tag {} from rank {} to rank {} came where message {} was expected: "
        "messages were repeated, lost or overtaken (exchange.verify)",
        seal.number, message.tag, message.from, message.to, message.number);
  if (message.bytes > 0)
    std::memcpy(message.target, message.sealed.data(), static_cast<std::size_t>(message.bytes));
}

}  // namespace tutti
