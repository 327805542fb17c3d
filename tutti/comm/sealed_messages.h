// SPDX-License-Identifier: Apache-2.0
// Messages that show whether they are what was sent: behind its bytes each carries its number,
// counted per sender, receiver and tag, and a checksum of all that. A message that was changed,
// repeated or overtaken on the way is found on arrival. Communicator::check_messages() turns them
// on, on every transport alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace tutti {

// The checksum of `data`. A change within any one aligned word of eight bytes always gives another
// checksum.
std::uint64_t checksum_of(const std::byte* data, std::int64_t bytes, std::uint64_t key);

// Bytes that a seal adds to a message.
inline constexpr std::int64_t seal_bytes = 16;

// A message under way, with room for its seal.
struct SealedMessage {
  int from = 0, to = 0, tag = 0;
  std::int64_t bytes = 0;    // without the seal
  std::uint64_t number = 0;  // from 1
  bool incoming = false;
  void* target = nullptr;  // where the receiver wants it
  std::vector<std::byte> sealed = {};
};

// The sealed messages that one rank has under way in both directions. The memory of completed
// messages is used again.
class SealedMessages {
 public:
  // A sealed copy of the data, to be sent in its place.
  SealedMessage& seal(const void* data, std::int64_t bytes, int from, int to, int tag);
  // Room for a sealed message, to be received in place of the data.
  SealedMessage& expect(void* data, std::int64_t bytes, int from, int to, int tag);
  // Ends a message that has been sent or has arrived. One that has arrived is checked and copied to
  // its target; throws Error when it is not the message that was sent.
  void open(SealedMessage& message);

 private:
  SealedMessage& next(std::int64_t bytes, int from, int to, int tag);

  std::deque<SealedMessage> all_;
  std::vector<SealedMessage*> free_;
  std::map<std::tuple<int, int, int>, std::uint64_t> numbers_;  // by sender, receiver, tag
};

}  // namespace tutti
