// SPDX-License-Identifier: Apache-2.0
// Allreduce between ranks that can read and write each other's buffers. Each publishes its buffer;
// when all have, each sums its own slice over all buffers, in rank order, and writes the result
// into all of them. A slice has one writer, so ranks meet twice and there is no copy in between.
#include "tutti/comm/collectives/allreduce.h"
#include "tutti/comm/shared_memory.h"

#include <algorithm>
#include <cstring>

namespace tutti::collectives {
namespace {

constexpr std::int64_t line_bytes = 64;
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

// Sums bytes [begin, end) of all buffers into all buffers. Rank 0's holds the sum as it grows.
template <class T>
void sum_slice(const std::vector<Berth>& board, std::int64_t begin, std::int64_t end) {
  const std::size_t last = board.size() - 1;
  if (last == 0) return;
  for (; begin < end; begin += block_bytes) {
    const std::int64_t count =
        std::min(block_bytes, end - begin) / static_cast<std::int64_t>(sizeof(T));
    const auto of = [&](std::size_t rank) {
      return reinterpret_cast<T*>(static_cast<std::byte*>(board[rank].data) + begin);
    };
    for (std::size_t rank = 1; rank < last; ++rank) accumulate(of(0), of(rank), count);
    sum_both(of(0), of(last), count);
    for (std::size_t rank = 1; rank < last; ++rank)
      std::memcpy(of(rank), of(0), static_cast<std::size_t>(count) * sizeof(T));
  }
}

class Direct final : public Operation {
 public:
  Direct(Communicator& communicator, const CollectiveArgs& args)
      : comm_(communicator),
        memory_(*communicator.shared()),
        board_(memory_.board(args.tag)),
        mine_(board_[communicator.rank()]),
        args_(args),
        bytes_(args.count * bytes_of(args.dtype)) {
    // Equal slices in whole cache lines, so that no line has two writers.
    const std::int64_t lines = (bytes_ + line_bytes - 1) / line_bytes;
    const std::int64_t slice_bytes = (lines + comm_.size() - 1) / comm_.size() * line_bytes;
    begin_ = std::min(bytes_, comm_.rank() * slice_bytes);
    end_ = std::min(bytes_, begin_ + slice_bytes);
  }

  void start(void* data) override {
    in_flight_.begin();
    reduced_ = false;
    round_ = mine_.published.load(std::memory_order_relaxed) + 1;
    mine_.data = data;
    mine_.bytes = bytes_;
    mine_.published.store(round_, std::memory_order_release);
  }

  bool advance() override {
    if (!in_flight_) return true;
    if (!reduced_) reduced_ = all_reached(&Berth::published) && reduce();
    if (!reduced_ || !all_reached(&Berth::done)) return false;
    in_flight_.end();
    return true;
  }

 private:
  bool all_reached(std::atomic<std::uint64_t> Berth::*counter) const {
    return std::all_of(board_.begin(), board_.end(), [&](const Berth& place) {
      return (place.*counter).load(std::memory_order_acquire) >= round_;
    });
  }

  // False when a failing rank has closed the memory.
  bool reduce() {
    for (std::size_t peer = 0; peer < board_.size(); ++peer)
      if (board_[peer].bytes != bytes_)
        throw Error(
            "rank {} and rank {} reduce vectors of different size with tag {}: {} and {} bytes",
            comm_.rank(), peer, args_.tag, bytes_, board_[peer].bytes);
    if (!memory_.enter(comm_.rank())) return false;
    dispatch_float(args_.dtype, [&]<class T>(T) { sum_slice<T>(board_, begin_, end_); });
    memory_.leave(comm_.rank());
    mine_.done.store(round_, std::memory_order_release);
    return true;
  }

  Communicator& comm_;
  SharedMemory& memory_;
  std::vector<Berth>& board_;
  Berth& mine_;
  const CollectiveArgs args_;
  const std::int64_t bytes_;
  std::int64_t begin_ = 0, end_ = 0;  // bytes of this rank's slice
  std::uint64_t round_ = 0;           // of the board
  bool reduced_ = false;              // this rank's slice
  InFlight in_flight_{comm_, *this};
};

}  // namespace

Collective direct() {
  return {
      .name = "direct",
      .doc = "ranks of one process sum slices of each other's buffers, always in rank order",
      .supports = [](Communicator& communicator) { return communicator.shared() != nullptr; },
      .make = [](Communicator& communicator,
                 const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable(args);
        if (!communicator.shared())
          throw Error("allreduce 'direct' needs ranks that share memory; use 'ring'");
        return std::make_unique<Direct>(communicator, args);
      },
      // Two meetings; a rank reads and writes its slice in each of its peers' buffers.
      .seconds =
          [](const LinkCost& link, int ranks, std::int64_t bytes, bool) {
            if (ranks == 1) return 0.0;
            const double slice_bytes = static_cast<double>(bytes) / ranks;
            return 2 * link.latency_seconds + 2 * (ranks - 1) * slice_bytes * link.seconds_per_byte;
          },
  };
}

}  // namespace tutti::collectives
