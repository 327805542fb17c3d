// SPDX-License-Identifier: Apache-2.0
// Allreduce of short vectors through memory that all ranks of a node see, though not each other's
// buffers: each rank copies its vector into its place there and adds up the places of all, in rank
// order. Ranks meet once for each piece of a vector. A rank has two places, used in turn: ranks
// that have published a round have read the places of the round before, so nobody reads a place
// that is written again.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/run_schedule.h"
#include "tutti/comm/window.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tutti::collectives {
namespace {

class Staged final : public Operation {
 public:
  Staged(const Group& group, const CollectiveArgs& args, int entry)
      : group_(group),
        comm_(group.communicator()),
        args_(args),
        bytes_(args.count * bytes_of(args.dtype)),
        combine_(combine_of(args)) {
    for (int rank = 0; rank < group.size(); ++rank)
      stages_.push_back(&stage_of(comm_.window(group.member(rank)), entry));
    mine_ = stages_[static_cast<std::size_t>(group.rank())];
  }

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    done_bytes_ = 0;
    comm_.count_sent((group_.size() - 1) * bytes_);
    publish();
  }

  const char* what() const override { return args_.what; }

  bool advance() override {
    const Turn turn(comm_);
    if (!turn) return false;
    if (!in_flight_) return true;
    while (all_published()) {
      add_up();
      done_bytes_ += piece_bytes();
      if (done_bytes_ == bytes_) {
        in_flight_.end();
        return true;
      }
      publish();
    }
    return false;
  }

 private:
  std::int64_t piece_bytes() const { return std::min(bytes_ - done_bytes_, stage_bytes); }

  void publish() {
    round_ = mine_->published.load(std::memory_order_relaxed) + 1;
    Stage::Place& place = mine_->place(round_);
    place.vector_bytes = bytes_;
    copy(place.piece, data_ + done_bytes_);
    if (comm_.checks_messages()) place.checksum = checksum_of(data_ + done_bytes_);
    mine_->published.store(round_, std::memory_order_release);
  }

  bool all_published() const {
    return std::all_of(stages_.begin(), stages_.end(), [&](const Stage* stage) {
      return stage->published.load(std::memory_order_acquire) >= round_;
    });
  }

  void add_up() {
    for (std::size_t rank = 0; rank < stages_.size(); ++rank)
      if (const auto other = stages_[rank]->place(round_).vector_bytes; other != bytes_)
        throw Error(
            "rank {} and rank {} exchange vectors of different size with tag {}: {} and {} bytes",
            comm_.rank(), group_.member(static_cast<int>(rank)), args_.tag, bytes_, other);
    if (comm_.checks_messages()) require_unchanged();
    copy(data_ + done_bytes_, stages_[0]->place(round_).piece);
    for (std::size_t rank = 1; rank < stages_.size(); ++rank)
      combine_(data_ + done_bytes_, stages_[rank]->place(round_).piece,
               piece_bytes() / bytes_of(args_.dtype));
  }

  std::uint64_t checksum_of(const std::byte* piece) const {
    return tutti::checksum_of(piece, piece_bytes(), round_);
  }
  void require_unchanged() const {
    for (std::size_t rank = 0; rank < stages_.size(); ++rank)
      if (const Stage::Place& place = stages_[rank]->place(round_);
          place.checksum != checksum_of(place.piece))
        throw Error(
            "what rank {} gave rank {} in shared memory (tag {}, {} bytes) has changed there: its "
            "checksum is wrong (exchange.verify)",
            group_.member(static_cast<int>(rank)), comm_.rank(), args_.tag, piece_bytes());
  }

  void copy(std::byte* to, const std::byte* from) const {
    if (piece_bytes() > 0) std::memcpy(to, from, static_cast<std::size_t>(piece_bytes()));
  }

  const Group group_;
  Communicator& comm_;
  const CollectiveArgs args_;
  const std::int64_t bytes_;
  const Combine combine_;
  std::vector<Stage*> stages_;  // by rank
  Stage* mine_ = nullptr;
  std::byte* data_ = nullptr;
  std::int64_t done_bytes_ = 0;
  std::uint64_t round_ = 0;
  InFlight in_flight_{comm_, *this};
};

}  // namespace

Collective staged() {
  return {
      .name = "staged",
      .doc =
          "ranks of one node copy short vectors into shared memory, in rank order; by messages "
          "when too many are under way",
      .supports = [](const TransportFacts& facts) { return facts.windows; },
      .make = [](const Group& group, const CollectiveArgs& args) -> std::unique_ptr<Operation> {
        require_summable("allreduce", args);
        std::byte* const directory = group.communicator().window(0);
        if (!group.facts().windows || directory == nullptr)
          throw Error("allreduce 'staged' needs ranks of one node; use 'ring'");
        if (const auto entry = entry_of(directory, group.member(0), args.tag))
          return std::make_unique<Staged>(group, args, *entry);
        const Algorithm instead = args.fixed_order ? chain_allreduce : butterfly_allreduce;
        const Problem problem{group.size(), args.count, args.dtype};
        return run_schedule(group, instead(problem, group.rank()), args, args.count);
      },
      // A meeting for each piece; a rank reads the places of the others and adds as it reads.
      .seconds =
          [](const Network& network, int ranks, std::int64_t bytes, bool) {
            if (ranks == 1) return 0.0;
            const double volume = static_cast<double>(bytes) * ranks;
            if (!network.staged.samples.empty()) return network.staged.message_seconds(volume / 2);
            const std::int64_t pieces = bytes / stage_bytes + 1;
            return static_cast<double>(pieces) * network.within.latency_seconds +
                   static_cast<double>(bytes) * (ranks - 1) * network.within.seconds_per_byte;
          },
      // Longer vectors are copied twice and lose to messages where cores are far apart.
      .most_bytes = 64 << 10,
  };
}

}  // namespace tutti::collectives
