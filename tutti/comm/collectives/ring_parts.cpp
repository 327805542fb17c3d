// SPDX-License-Identifier: Apache-2.0
// The two halves of the ring (D04) on their own. In step s of P − 1 each rank sends a part to the
// next rank and receives the one before it from the rank before: adding what comes in, the part
// that a rank receives last is complete and its own (reduce-scatter); starting with its own, a rank
// has all of them at the end (allgather). Each rank sends m(P−1)/P elements in P − 1 messages.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/part.h"
#include "tutti/core/tensor.h"

namespace tutti::collectives {
namespace {

class RingParts final : public Operation {
 public:
  RingParts(Communicator& communicator, const CollectiveArgs& args, bool reduces)
      : comm_(communicator),
        args_(args),
        ranks_(communicator.size()),
        reduces_(reduces),
        element_bytes_(bytes_of(args.dtype)),
        partial_(reduces && ranks_ > 1 ? part(0).count() * element_bytes_ : 0) {}

  void start(void* data) override {
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    step_ = 0;
    if (ranks_ > 1) exchange();
  }

  bool advance() override {
    if (!in_flight_) return true;
    while (step_ < ranks_ - 1) {
      if (const bool received = comm_.test(receive_); !comm_.test(send_) || !received) return false;
      if (reduces_) add_partial();
      if (++step_ < ranks_ - 1) exchange();
    }
    in_flight_.end();
    return true;
  }

 private:
  // The parts this step sends and receives.
  int part_out() const { return (comm_.rank() - step_ - (reduces_ ? 1 : 0) + 2 * ranks_) % ranks_; }
  int part_in() const { return (part_out() + ranks_ - 1) % ranks_; }

  Part part(int rank) const { return part_of(args_.count, args_.dtype, rank, ranks_); }
  std::int64_t bytes_in(int rank) const { return part(rank).count() * element_bytes_; }
  std::byte* at(int rank) const { return data_ + part(rank).begin * element_bytes_; }

  void exchange() {
    const int out = part_out(), in = part_in(), rank = comm_.rank();
    receive_ = comm_.receive(reduces_ ? partial_.data() : at(in), bytes_in(in),
                             (rank + ranks_ - 1) % ranks_, args_.tag);
    send_ = comm_.send(at(out), bytes_in(out), (rank + 1) % ranks_, args_.tag);
  }

  void add_partial() {
    dispatch_float(args_.dtype, [&]<class T>(T) {
      accumulate(reinterpret_cast<T*>(at(part_in())), reinterpret_cast<const T*>(partial_.data()),
                 part(part_in()).count());
    });
  }

  Communicator& comm_;
  const CollectiveArgs args_;
  const int ranks_;
  const bool reduces_;
  const std::int64_t element_bytes_;
  const Buffer partial_;  // the received part while reducing; the first is the largest
  std::byte* data_ = nullptr;
  int step_ = 0;
  Request send_, receive_;
  InFlight in_flight_{comm_, *this};
};

// Also of the fixed-order variant.
double seconds(const LinkCost& link, int ranks, std::int64_t bytes, bool) {
  const double part_bytes = static_cast<double>(bytes) / ranks;
  return (ranks - 1) * (link.latency_seconds + part_bytes * link.seconds_per_byte);
}

}  // namespace

Collective ring_reduce_scatter() {
  return {
      .name = "ring",
      .doc = "partial sums go around a ring: least volume, works on every transport",
      .supports = [](Communicator&) { return true; },
      .make = [](Communicator& communicator,
                 const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable("reduce_scatter", args);
        // A ring starts each part's sum at another rank.
        if (args.fixed_order) return make_pairwise_reduce_scatter(communicator, args);
        return std::make_unique<RingParts>(communicator, args, /*reduces=*/true);
      },
      .seconds = seconds,
  };
}

Collective ring_allgather() {
  return {
      .name = "ring",
      .doc = "parts go around a ring: least volume, works on every transport",
      .supports = [](Communicator&) { return true; },
      .make = [](Communicator& communicator,
                 const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        return std::make_unique<RingParts>(communicator, args, /*reduces=*/false);
      },
      .seconds = seconds,
  };
}

}  // namespace tutti::collectives
