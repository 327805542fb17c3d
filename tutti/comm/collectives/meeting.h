// SPDX-License-Identifier: Apache-2.0
// Members of a group that share memory meet on the board of a tag: each publishes its buffer, works
// on what its peers have published, and has its buffer to itself again when all have done their
// work.
#pragma once

#include "tutti/comm/group.h"
#include "tutti/comm/shared_memory.h"

#include <algorithm>

namespace tutti::collectives {

class Meeting {
 public:
  Meeting(const Group& group, int tag, std::int64_t bytes)
      : rank_(group.rank()),
        group_(group),
        tag_(tag),
        bytes_(bytes),
        memory_(*group.communicator().shared()),
        board_(memory_.board(group.member(0), tag, group.size())),
        mine_(board_[static_cast<std::size_t>(rank_)]) {}

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(board_.size()); }
  std::int64_t bytes() const { return bytes_; }

  void publish(void* data) {
    round_ = mine_.published.load(std::memory_order_relaxed) + 1;
    mine_.data = data;
    mine_.bytes = bytes_;
    mine_.published.store(round_, std::memory_order_release);
  }
  bool published(int rank) const { return reached(at(rank).published); }
  bool all_published() const {
    return all([](const Berth& berth) -> auto& { return berth.published; });
  }

  // The buffer of a rank that has published; throws when it is of another size.
  std::byte* data_of(int rank) const {
    const Berth& berth = at(rank);
    if (berth.bytes != bytes_)
      throw Error(
          "rank {} and rank {} exchange vectors of different size with tag {}: {} and {} bytes",
          group_.member(rank_), group_.member(rank), tag_, bytes_, berth.bytes);
    return static_cast<std::byte*>(berth.data);
  }

  // Runs `work`, which touches the memory of peers; false, without running it, when a failing rank
  // has closed the memory.
  template <class Work>
  bool inside(const Work& work) {
    const int own = group_.member(rank_);
    if (!memory_.enter(own)) return false;
    work();
    memory_.leave(own);
    return true;
  }

  // This rank will not touch its peers' buffers again in this round.
  void set_done() { mine_.done.store(round_, std::memory_order_release); }
  bool done(int rank) const { return reached(at(rank).done); }
  bool all_done() const {
    return all([](const Berth& berth) -> auto& { return berth.done; });
  }

 private:
  const Berth& at(int rank) const { return board_[static_cast<std::size_t>(rank)]; }
  bool reached(const std::atomic<std::uint64_t>& counter) const {
    return counter.load(std::memory_order_acquire) >= round_;
  }
  template <class Counter>
  bool all(const Counter& counter) const {
    return std::all_of(board_.begin(), board_.end(),
                       [&](const Berth& berth) { return reached(counter(berth)); });
  }

  const int rank_;
  const Group group_;
  const int tag_;
  const std::int64_t bytes_;
  SharedMemory& memory_;
  std::vector<Berth>& board_;
  Berth& mine_;
  std::uint64_t round_ = 0;  // the round of the board that this rank has published last
};

}  // namespace tutti::collectives
