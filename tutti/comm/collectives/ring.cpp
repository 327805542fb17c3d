// SPDX-License-Identifier: Apache-2.0
// Ring allreduce (D04). The vector is cut into P chunks; in step s each rank sends chunk rank − s
// to the next rank and receives chunk rank − s − 1 from the one before. In the first P − 1 steps
// the received chunk is added (reduce-scatter), in the last P − 1 it is the result (allgather).
// Each rank sends 2m(P−1)/P elements in 2(P−1) messages, the least possible volume.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/core/tensor.h"

namespace tutti::collectives {
namespace {

class Ring final : public Operation {
 public:
  Ring(Communicator& communicator, const CollectiveArgs& args)
      : comm_(communicator),
        args_(args),
        ranks_(communicator.size()),
        steps_(2 * (ranks_ - 1)),
        element_bytes_(bytes_of(args.dtype)),
        partial_(ranks_ > 1 ? (args.count / ranks_ + 1) * element_bytes_ : 0) {}

  void start(void* data) override {
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    step_ = 0;
    if (steps_ > 0) exchange();
  }

  bool advance() override {
    if (!in_flight_) return true;
    while (step_ < steps_) {
      if (const bool received = comm_.test(receive_); !comm_.test(send_) || !received) return false;
      if (reducing()) add_partial();
      if (++step_ < steps_) exchange();
    }
    in_flight_.end();
    return true;
  }

 private:
  bool reducing() const { return step_ < ranks_ - 1; }

  // The chunks this step sends and receives.
  int chunk_out() const { return (comm_.rank() - step_ + 2 * ranks_) % ranks_; }
  int chunk_in() const { return (chunk_out() + ranks_ - 1) % ranks_; }

  std::int64_t first(int chunk) const { return args_.count * chunk / ranks_; }
  std::int64_t count(int chunk) const { return first(chunk + 1) - first(chunk); }
  std::byte* at(int chunk) const { return data_ + first(chunk) * element_bytes_; }

  void exchange() {
    const int out = chunk_out(), in = chunk_in(), rank = comm_.rank();
    receive_ = comm_.receive(reducing() ? partial_.data() : at(in), count(in) * element_bytes_,
                             (rank + ranks_ - 1) % ranks_, args_.tag);
    send_ = comm_.send(at(out), count(out) * element_bytes_, (rank + 1) % ranks_, args_.tag);
  }

  void add_partial() {
    dispatch_float(args_.dtype, [&]<class T>(T) {
      accumulate(reinterpret_cast<T*>(at(chunk_in())), reinterpret_cast<const T*>(partial_.data()),
                 count(chunk_in()));
    });
  }

  Communicator& comm_;
  const CollectiveArgs args_;
  const int ranks_, steps_;
  const std::int64_t element_bytes_;
  const Buffer partial_;  // the received chunk while reducing
  std::byte* data_ = nullptr;
  int step_ = 0;
  Request send_, receive_;
  InFlight in_flight_{comm_, *this};
};

}  // namespace

Collective ring() {
  return {
      .name = "ring",
      .doc = "reduce-scatter and allgather around a ring: least volume, works on every transport",
      .supports = [](Communicator&) { return true; },
      .make = [](Communicator& communicator,
                 const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable("allreduce", args);
        // A ring starts each chunk's sum at another rank; in rank order it becomes a chain.
        if (args.fixed_order) return make_chain(communicator, args);
        return std::make_unique<Ring>(communicator, args);
      },
      .seconds =
          [](const LinkCost& link, int ranks, std::int64_t bytes, bool fixed_order) {
            if (fixed_order) return chain_seconds(link, ranks, bytes);
            const double chunk_bytes = static_cast<double>(bytes) / ranks;
            return 2 * (ranks - 1) * (link.latency_seconds + chunk_bytes * link.seconds_per_byte);
          },
  };
}

}  // namespace tutti::collectives
