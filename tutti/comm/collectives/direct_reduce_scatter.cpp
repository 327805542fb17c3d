// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter between ranks that can read each other's buffers: each publishes its buffer and,
// when all have, sums its own part over all of them, in rank order. A rank sums when its sum is
// asked for, so that the sum is in cache for whoever asks; or earlier, when a peer has summed its
// own part and waits to have its buffer back.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/meeting.h"
#include "tutti/comm/part.h"

namespace tutti::collectives {
namespace {

constexpr std::int64_t cached_bytes = 8 * 1024;  // stays in the first-level cache

// Adds the other ranks' elements to those of rank `own`, always in rank order.
template <class T>
void sum_in_rank_order(const std::vector<std::byte*>& buffers, int own, const Part& part) {
  constexpr std::int64_t block = cached_bytes / static_cast<std::int64_t>(sizeof(T));
  const auto of = [&](std::size_t rank) { return reinterpret_cast<T*>(buffers[rank]); };
  const auto mine = static_cast<std::size_t>(own);
  for (std::int64_t begin = part.begin; begin < part.end; begin += block) {
    const std::int64_t end = std::min(part.end, begin + block);
    T* into = of(mine);
    // The summands of the ranks before are summed apart and then added to the own one, as x + y is
    // y + x.
    T before[block];
    if (mine > 0) {
      for (std::int64_t i = begin; i < end; ++i) before[i - begin] = of(0)[i];
      for (std::size_t rank = 1; rank < mine; ++rank)
        accumulate(before, of(rank) + begin, end - begin);
      accumulate(into + begin, before, end - begin);
    }
    for (std::size_t rank = mine + 1; rank < buffers.size(); ++rank)
      accumulate(into + begin, of(rank) + begin, end - begin);
  }
}

// Like sum_in_rank_order(), with `combine` in place of the sum, beginning with the own elements.
void combine_others(const std::vector<std::byte*>& buffers, int own, const Part& part,
                    std::int64_t element_bytes, Combine combine) {
  const auto of = [&](std::size_t rank) { return buffers[rank] + part.begin * element_bytes; };
  for (std::size_t rank = 0; rank < buffers.size(); ++rank)
    if (rank != static_cast<std::size_t>(own))
      combine(of(static_cast<std::size_t>(own)), of(rank), part.count());
}

class DirectReduceScatter final : public Operation {
 public:
  DirectReduceScatter(const Group& group, const CollectiveArgs& args)
      : comm_(group.communicator()),
        dtype_(args.dtype),
        combine_(args.combine),
        what_(args.what),
        part_(part_of(args.count, args.dtype, group.rank(), group.size())),
        meeting_(group, args.tag, args.count * bytes_of(args.dtype)),
        buffers_(static_cast<std::size_t>(group.size())) {}

  void start(void* data) override {
    in_flight_.begin();
    reduced_ = false;
    meeting_.publish(data);
    comm_.count_sent(meeting_.bytes() - part_.count() * bytes_of(dtype_));
  }

  bool ready() override {
    if (in_flight_ && !reduced_) reduced_ = meeting_.all_published() && reduce();
    return !in_flight_ || reduced_;
  }

  const char* what() const override { return what_; }

  bool advance() override {
    if (!in_flight_) return true;
    if (!reduced_ && a_peer_waits()) ready();
    if (!reduced_ || !meeting_.all_done()) return false;
    in_flight_.end();
    return true;
  }

 private:
  bool a_peer_waits() const {
    for (int rank = 0; rank < meeting_.size(); ++rank)
      if (rank != meeting_.rank() && meeting_.done(rank)) return true;
    return meeting_.size() == 1;
  }

  // False when a failing rank has closed the memory.
  bool reduce() {
    for (int rank = 0; rank < meeting_.size(); ++rank)
      buffers_[static_cast<std::size_t>(rank)] = meeting_.data_of(rank);
    const auto sum = [&] {
      if (combine_ != nullptr)
        return combine_others(buffers_, meeting_.rank(), part_, bytes_of(dtype_), combine_);
      dispatch_real(dtype_,
                    [&]<class T>(T) { sum_in_rank_order<T>(buffers_, meeting_.rank(), part_); });
    };
    if (!meeting_.inside(sum)) return false;
    meeting_.set_done();
    return true;
  }

  Communicator& comm_;
  const DType dtype_;
  const Combine combine_;
  const char* const what_;
  const Part part_;
  Meeting meeting_;
  std::vector<std::byte*> buffers_;  // of all ranks
  bool reduced_ = false;             // this rank's part
  InFlight in_flight_{comm_, *this};
};

}  // namespace

Collective direct_reduce_scatter() {
  return {
      .name = "direct",
      .doc = "ranks of one process sum their parts of each other's buffers, always in rank order",
      .supports = [](const TransportFacts& facts) { return facts.shared_memory; },
      .make = [](const Group& group, const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable("reduce_scatter", args);
        require_shared_memory("reduce_scatter", group);
        return std::make_unique<DirectReduceScatter>(group, args);
      },
      // A rank reads its part of each of its peers' buffers.
      .seconds =
          [](const Network& network, int ranks, std::int64_t bytes, bool) {
            if (ranks == 1) return 0.0;
            const LinkCost& link = network.within;
            const double part_bytes = static_cast<double>(bytes) / ranks;
            return link.latency_seconds + (ranks - 1) * part_bytes * link.seconds_per_byte;
          },
  };
}

}  // namespace tutti::collectives
