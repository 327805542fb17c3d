// SPDX-License-Identifier: Apache-2.0
// Messages that show whether they are what was sent: behind its bytes each carries its number,
// counted per sender, receiver and tag, and a checksum of all that. One that was changed, repeated
// or overtaken on the way is found on arrival. Communicator::check_messages() turns them on, on
// every transport alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <tuple>
#include <vector>

namespace tutti {

// A change within any one aligned word of eight bytes always gives another checksum.
std::uint64_t checksum_of(const std::byte* data, std::int64_t bytes, std::uint64_t key);

// What a seal adds to a message.
inline constexpr std::int64_t seal_bytes = 16;

struct SealedMessage {
  int from = 0, to = 0, tag = 0;
  std::int64_t bytes = 0;    // without the seal
  std::uint64_t number = 0;  // from 1
  bool incoming = false;
  void* target = nullptr;  // where the receiver wants it
  std::vector<std::byte> sealed = {};
};

// Those of one rank, under way in both directions. Their memory is used again.
class SealedMessages {
 public:
  // A copy to send in place of the data.
  SealedMessage& seal(const void* data, std::int64_t bytes, int from, int to, int tag);
  // Room to receive one in place of the data.
  SealedMessage& expect(void* data, std::int64_t bytes, int from, int to, int tag);
  // The message is complete: one that was received is checked and handed over. Throws Error when it
  // is not the one that was sent.
  void open(SealedMessage& message);

 private:
  SealedMessage& next(std::int64_t bytes, int from, int to, int tag);

  std::deque<SealedMessage> all_;
  std::vector<SealedMessage*> free_;
  std::map<std::tuple<int, int, int>, std::uint64_t> numbers_;  // by sender, receiver, tag
};

}  // namespace tutti
