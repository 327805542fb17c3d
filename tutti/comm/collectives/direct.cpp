// SPDX-License-Identifier: Apache-2.0
// Allreduce between ranks that can read and write each other's buffers. Each publishes its buffer;
// when all have, each sums its own part over all buffers, in rank order, and writes the result into
// all of them. A part has one writer, so ranks meet twice and there is no copy in between.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/meeting.h"
#include "tutti/comm/part.h"

#include <algorithm>
#include <cstring>

namespace tutti::collectives {
namespace {

constexpr std::int64_t block_bytes = 8 * 1024;  // stays in the first-level cache

// a[i] = b[i] = a[i] + b[i]
template <class T>
void sum_both(T* __restrict a, T* __restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T sum = a[i] + b[i];
    a[i] = sum;
    b[i] = sum;
  }
}

void sum_both(Bf16* __restrict a, Bf16* __restrict b, std::int64_t count) {
  accumulate(a, b, count);
  std::memcpy(b, a, static_cast<std::size_t>(count) * sizeof(Bf16));
}

// Like sum_part(), with `combine` in place of the sum.
void combine_part(const std::vector<std::byte*>& buffers, const Part& part,
                  std::int64_t element_bytes, Combine combine) {
  const auto bytes = static_cast<std::size_t>(part.count() * element_bytes);
  const auto of = [&](std::size_t rank) { return buffers[rank] + part.begin * element_bytes; };
  for (std::size_t rank = 1; rank < buffers.size(); ++rank) combine(of(0), of(rank), part.count());
  for (std::size_t rank = 1; rank < buffers.size() && bytes > 0; ++rank)
    std::memcpy(of(rank), of(0), bytes);
}

// Sums a part of all buffers into all buffers. Rank 0's buffer holds the sum as it grows.
template <class T>
void sum_part(const std::vector<std::byte*>& buffers, const Part& part) {
  const std::size_t last = buffers.size() - 1;
  if (last == 0) return;
  constexpr std::int64_t block = block_bytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t begin = part.begin; begin < part.end; begin += block) {
    const std::int64_t count = std::min(block, part.end - begin);
    const auto of = [&](std::size_t rank) { return reinterpret_cast<T*>(buffers[rank]) + begin; };
    for (std::size_t rank = 1; rank < last; ++rank) accumulate(of(0), of(rank), count);
    sum_both(of(0), of(last), count);
    for (std::size_t rank = 1; rank < last; ++rank)
      std::memcpy(of(rank), of(0), static_cast<std::size_t>(count) * sizeof(T));
  }
}

class Direct final : public Operation {
 public:
  Direct(const Group& group, const CollectiveArgs& args)
      : comm_(group.communicator()),
        args_(args),
        part_(part_of(args.count, args.dtype, group.rank(), group.size())),
        meeting_(group, args.tag, args.count * bytes_of(args.dtype)),
        buffers_(static_cast<std::size_t>(group.size())) {}

  void start(void* data) override {
    in_flight_.begin();
    reduced_ = false;
    meeting_.publish(data);
    comm_.count_sent(bytes_of(args_.dtype) *
                     (args_.count - part_.count() + (meeting_.size() - 1) * part_.count()));
  }

  const char* what() const override { return args_.what; }

  bool advance() override {
    if (!in_flight_) return true;
    if (!reduced_) reduced_ = meeting_.all_published() && reduce();
    if (!reduced_ || !meeting_.all_done()) return false;
    in_flight_.end();
    return true;
  }

 private:
  // False when a failing rank has closed the memory.
  bool reduce() {
    for (int rank = 0; rank < meeting_.size(); ++rank)
      buffers_[static_cast<std::size_t>(rank)] = meeting_.data_of(rank);
    const auto sum = [&] {
      if (args_.combine != nullptr)
        return combine_part(buffers_, part_, bytes_of(args_.dtype), args_.combine);
      dispatch_real(args_.dtype, [&]<class T>(T) { sum_part<T>(buffers_, part_); });
    };
    if (!meeting_.inside(sum)) return false;
    meeting_.set_done();
    return true;
  }

  Communicator& comm_;
  const CollectiveArgs args_;
  const Part part_;
  Meeting meeting_;
  std::vector<std::byte*> buffers_;  // of all ranks
  bool reduced_ = false;             // this rank's part
  InFlight in_flight_{comm_, *this};
};

}  // namespace

Collective direct() {
  return {
      .name = "direct",
      .doc = "ranks of one process sum parts of each other's buffers, always in rank order",
      .supports = [](const TransportFacts& facts) { return facts.shared_memory; },
      .make = [](const Group& group, const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable("allreduce", args);
        require_shared_memory("allreduce", group);
        return std::make_unique<Direct>(group, args);
      },
      // Two meetings; a rank reads and writes its slice in each of its peers' buffers.
      .seconds =
          [](const Network& network, int ranks, std::int64_t bytes, bool) {
            if (ranks == 1) return 0.0;
            const LinkCost& link = network.within;
            const double slice_bytes = static_cast<double>(bytes) / ranks;
            if (!network.direct.samples.empty())
              return network.direct.message_seconds(2 * (ranks - 1) * slice_bytes);
            return 2 * link.latency_seconds + 2 * (ranks - 1) * slice_bytes * link.seconds_per_byte;
          },
  };
}

}  // namespace tutti::collectives
