// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/run_schedule.h"

#include "tutti/comm/collectives/algorithms.h"
#include "tutti/core/tensor.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tutti::collectives {
namespace {

// Where long messages are cut, a rank has so many pieces under way: the line stays busy, and a
// message that a peer needs before it can send does not wait behind a whole long one.
constexpr int window = 4;

class ScheduledOperation final : public Operation {
 public:
  ScheduledOperation(const Group& group, Actions actions, const CollectiveArgs& args,
                     std::int64_t elements)
      : group_(group),
        comm_(group.communicator()),
        actions_(std::move(actions)),
        args_(args),
        elements_(elements),
        element_bytes_(bytes_of(args.dtype)),
        piece_bytes_(comm_.piece_bytes()),
        combine_(combine_of(args)) {
    std::size_t most_sends = 0, most_receives = 0;
    std::int64_t scratch = 0, summands = 0;
    for (begin_ = end_ = 0; next_phase();) {
      std::size_t sends = 0, receives = 0;
      std::int64_t incoming = 0;
      for (std::size_t i = begin_; i < end_; ++i) {
        const Part& segment = actions_[i].segment;
        scratch = std::max(scratch, segment.end - elements_);
        if (actions_[i].kind == Action::receive_add) incoming += segment.count();
        if (actions_[i].is_message())
          (actions_[i].kind == Action::send ? sends : receives) += pieces_of(actions_[i]);
      }
      most_sends = std::max(most_sends, sends);
      most_receives = std::max(most_receives, receives);
      summands = std::max(summands, incoming);
    }
    sends_.reserve(most_sends);
    receives_.reserve(most_receives);
    scratch_ = Buffer(scratch * element_bytes_);
    summands_ = Buffer(summands * element_bytes_);
  }

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    begin_ = end_ = 0;
    if (next_phase()) post();
  }

  const char* what() const override { return args_.what; }
  int urgency() const override { return args_.urgency; }
  bool send_pieces() override { return post_sends(); }

  bool advance() override {
    const Turn turn(comm_);
    if (!turn) return false;
    if (!in_flight_) return true;
    while (begin_ < actions_.size()) {
      if (!computed_) {
        if (!test_messages()) return false;
        additions_ = comm_.clock().charge_additions(compute());
        computed_ = true;
      }
      if (!comm_.test(additions_)) return false;
      computed_ = false;
      if (next_phase()) post();
    }
    in_flight_.end();
    return true;
  }

 private:
  // Moves on to the actions [begin_, end_) of the next phase; false when there is none.
  bool next_phase() {
    begin_ = end_;
    while (end_ < actions_.size() && actions_[end_].phase == actions_[begin_].phase) ++end_;
    return begin_ < actions_.size();
  }

  std::byte* at(std::int64_t element) const {
    return element < elements_ || scratch_.bytes() == 0
               ? data_ + element * element_bytes_
               : scratch_.data() + (element - elements_) * element_bytes_;
  }
  std::int64_t bytes(const Action& action) const { return action.segment.count() * element_bytes_; }

  // A message of the phase, or a piece of one.
  struct Piece {
    int peer;
    std::byte* memory;
    std::int64_t bytes;
    std::byte* add_to;  // what has arrived is added here at once; nullptr: it is not
    Request request;
  };

  std::size_t pieces_of(const Action& action) const {
    if (piece_bytes_ == 0 || bytes(action) == 0) return 1;
    return static_cast<std::size_t>((bytes(action) + piece_bytes_ - 1) / piece_bytes_);
  }

  void cut(const Action& action, std::byte* memory, std::byte* add_to,
           std::vector<Piece>& pieces) const {
    const auto count = static_cast<std::int64_t>(pieces_of(action));
    const std::int64_t most = count == 1 ? bytes(action) : piece_bytes_;
    for (std::int64_t begin = 0, k = 0; k < count; ++k, begin += most)
      pieces.push_back({group_.member(action.peer),
                        memory + begin,
                        std::min(most, bytes(action) - begin),
                        add_to == nullptr ? nullptr : add_to + begin,
                        {}});
  }

  void post() {
    sends_.clear();
    receives_.clear();
    posted_sends_ = done_sends_ = done_receives_ = 0;
    adds_on_arrival_ = piece_bytes_ != 0 && sends_stay_as_they_are();
    std::int64_t summand = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      const Action& action = actions_[i];
      std::byte* const memory = at(action.segment.begin);
      if (action.kind == Action::send) cut(action, memory, nullptr, sends_);
      if (action.kind == Action::receive) cut(action, memory, nullptr, receives_);
      if (action.kind != Action::receive_add) continue;
      cut(action, summands_.data() + summand, adds_on_arrival_ ? memory : nullptr, receives_);
      summand += bytes(action);
    }
    for (Piece& piece : receives_)
      piece.request = comm_.receive(piece.memory, piece.bytes, piece.peer, args_.tag);
    if (piece_bytes_ == 0)
      post_sends();
    else
      comm_.operations().send_pieces();
  }

  // Whether the messages that the phase receives can be added as they arrive: the phase has no
  // other additions or copies, and does not send what the sums change.
  bool sends_stay_as_they_are() const {
    for (std::size_t i = begin_; i < end_; ++i) {
      if (!actions_[i].is_message()) return false;
      if (actions_[i].kind != Action::receive_add) continue;
      const Part& sum = actions_[i].segment;
      for (std::size_t k = begin_; k < end_; ++k) {
        const Part& sent = actions_[k].segment;
        if (actions_[k].kind == Action::send && sent.begin < sum.end && sum.begin < sent.end)
          return false;
      }
    }
    return true;
  }

  // Starts sending the pieces of the phase; false when some must wait. Each operation may have one
  // piece under way whatever the others have: those may be stuck until a peer starts their
  // operations, and the peer may need this operation first.
  bool post_sends() {
    int& under_way = comm_.operations().pieces_under_way;
    for (; posted_sends_ < sends_.size(); ++posted_sends_) {
      if (piece_bytes_ != 0 && under_way >= window && posted_sends_ > done_sends_) return false;
      ++under_way;
      Piece& piece = sends_[posted_sends_];
      piece.request = comm_.send(piece.memory, piece.bytes, piece.peer, args_.tag, args_.urgency);
      comm_.count_sent(piece.bytes);
    }
    return true;
  }

  // True when all messages of the phase are complete. Pieces of messages that are cut complete in
  // order, so only the first incomplete one is tested.
  bool test_messages() {
    const auto test = [&](std::vector<Piece>& pieces, std::size_t& done, std::size_t end) {
      bool all = true;
      for (std::size_t i = done; i < end && (all || piece_bytes_ == 0); ++i) {
        all = comm_.test(pieces[i].request) && all;
        if (!all) continue;
        done = i + 1;
        if (const Piece& piece = pieces[i]; piece.add_to != nullptr)
          sum(piece.add_to, piece.memory, piece.bytes / element_bytes_);
      }
    };
    test(receives_, done_receives_, receives_.size());
    const std::size_t before = done_sends_;
    test(sends_, done_sends_, posted_sends_);
    comm_.operations().pieces_under_way -= static_cast<int>(done_sends_ - before);
    if (piece_bytes_ != 0 && done_sends_ > before) comm_.operations().send_pieces();
    return done_receives_ == receives_.size() && done_sends_ == sends_.size();
  }

  // The additions and copies of the phase; returns how many bytes they wrote.
  std::int64_t compute() {
    if (adds_on_arrival_) return 0;
    std::int64_t summand = 0, written = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      const Action& action = actions_[i];
      const auto length = static_cast<std::size_t>(bytes(action));
      if (length == 0) continue;
      if (action.kind != Action::send && action.kind != Action::receive) written += bytes(action);
      std::byte* into = at(action.segment.begin);
      if (action.kind == Action::receive_add) {
        sum(into, summands_.data() + summand, action.segment.count());
        summand += bytes(action);
      } else if (action.kind == Action::add) {
        sum(into, at(action.from), action.segment.count());
      } else if (action.kind == Action::copy) {
        std::memcpy(into, at(action.from), length);
      }
    }
    return written;
  }

  void sum(std::byte* into, const std::byte* summand, std::int64_t count) const {
    combine_(into, summand, count);
  }

  const Group group_;
  Communicator& comm_;
  const Actions actions_;
  const CollectiveArgs args_;
  const std::int64_t elements_, element_bytes_, piece_bytes_;
  const Combine combine_;
  Buffer scratch_, summands_;  // summands_: what is received to be added
  std::byte* data_ = nullptr;
  std::size_t begin_ = 0, end_ = 0;      // the actions of the phase
  std::vector<Piece> sends_, receives_;  // of the phase
  std::size_t posted_sends_ = 0, done_sends_ = 0, done_receives_ = 0;
  bool adds_on_arrival_ = false;  // in the phase
  bool computed_ = false;         // the additions and copies of the phase are done
  Request additions_ = {};        // complete when they would be, where time is virtual
  InFlight in_flight_{comm_, *this};
};

}  // namespace

std::unique_ptr<Operation> run_schedule(const Group& group, Actions actions,
                                        const CollectiveArgs& args, std::int64_t elements) {
  return std::make_unique<ScheduledOperation>(group, std::move(actions), args, elements);
}

}  // namespace tutti::collectives
