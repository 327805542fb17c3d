// SPDX-License-Identifier: Apache-2.0
// Allgather between ranks that can read each other's buffers: each publishes its buffer, copies
// every peer's part as soon as that is there, and never writes into another rank's memory. Where
// ranks publish one buffer that they have in common, nothing is left to copy.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/meeting.h"
#include "tutti/comm/part.h"

#include <cstring>

namespace tutti::collectives {
namespace {

class DirectAllgather final : public Operation {
 public:
  DirectAllgather(const Group& group, const CollectiveArgs& args)
      : comm_(group.communicator()),
        args_(args),
        meeting_(group, args.tag, args.count * bytes_of(args.dtype)),
        copied_(static_cast<std::size_t>(group.size())) {}

  void start(void* data) override {
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    std::fill(copied_.begin(), copied_.end(), false);
    copied_[static_cast<std::size_t>(meeting_.rank())] = true;
    missing_ = meeting_.size() - 1;
    meeting_.publish(data);
    comm_.count_sent(missing_ * bytes_of(args_.dtype) *
                     part_of(args_.count, args_.dtype, meeting_.rank(), meeting_.size()).count());
    if (missing_ == 0) meeting_.set_done();
  }

  bool ready() override {
    if (!in_flight_) return true;
    for (int rank = 0; rank < meeting_.size() && missing_ > 0; ++rank)
      if (!copied_[static_cast<std::size_t>(rank)] && meeting_.published(rank) && !copy(rank))
        return false;
    return missing_ == 0;
  }

  const char* what() const override { return args_.what; }

  bool advance() override {
    if (!in_flight_) return true;
    if (!ready() || !meeting_.all_done()) return false;
    in_flight_.end();
    return true;
  }

 private:
  // False when a failing rank has closed the memory.
  bool copy(int rank) {
    const Part part = part_of(args_.count, args_.dtype, rank, meeting_.size());
    const std::int64_t offset = part.begin * bytes_of(args_.dtype);
    const std::byte* from = meeting_.data_of(rank) + offset;
    const auto bytes = static_cast<std::size_t>(part.count() * bytes_of(args_.dtype));
    if (!meeting_.inside([&] {
          if (bytes > 0 && from != data_ + offset) std::memcpy(data_ + offset, from, bytes);
        }))
      return false;
    copied_[static_cast<std::size_t>(rank)] = true;
    if (--missing_ == 0) meeting_.set_done();
    return true;
  }

  Communicator& comm_;
  const CollectiveArgs args_;
  Meeting meeting_;
  std::byte* data_ = nullptr;
  std::vector<bool> copied_;  // by rank
  int missing_ = 0;
  InFlight in_flight_{comm_, *this};
};

}  // namespace

Collective direct_allgather() {
  return {
      .name = "direct",
      .doc = "ranks of one process copy parts from each other's buffers",
      .supports = [](const TransportFacts& facts) { return facts.shared_memory; },
      .make = [](const Group& group, const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_shared_memory("allgather", group);
        return std::make_unique<DirectAllgather>(group, args);
      },
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
