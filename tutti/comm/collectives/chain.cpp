// SPDX-License-Identifier: Apache-2.0
// The ring's allreduce in fixed order: partial sums go up the chain 0 → 1 → … → P−1, each rank
// adding its own, so every element is summed in rank order; the result comes back down. Segments
// follow each other, so both directions of every link are busy. A rank sends m elements each way
// (the ends one way only).
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/core/tensor.h"

#include <algorithm>

namespace tutti::collectives {
namespace {

constexpr std::int64_t segment_bytes = 64 * 1024;

// At least one, if empty: all ranks meet.
std::int64_t segments_of(std::int64_t bytes) {
  return std::max<std::int64_t>(1, (bytes + segment_bytes - 1) / segment_bytes);
}

class Chain final : public Operation {
 public:
  Chain(Communicator& communicator, const CollectiveArgs& args)
      : comm_(communicator),
        args_(args),
        bytes_(args.count * bytes_of(args.dtype)),
        segments_(communicator.size() > 1 ? segments_of(bytes_) : 0),
        first_(communicator.rank() == 0),
        last_(communicator.rank() == communicator.size() - 1),
        partial_(segments_ > 0 && !first_ ? segment_bytes : 0) {}

  void start(void* data) override {
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    summed_ = first_ ? segments_ : 0;
    sent_up_ = last_ ? segments_ : 0;
    returned_ = 0;
    sent_down_ = first_ ? segments_ : 0;
    if (summed_ < segments_) expect_partial();
    advance();
  }

  bool advance() override {
    if (!in_flight_) return true;
    while (sum() | send_up() | take_result() | send_down()) {
    }
    if (returned_ < segments_ || sent_down_ < segments_ || !comm_.test(up_) || !comm_.test(down_))
      return false;
    in_flight_.end();
    return true;
  }

 private:
  // Each of these four moves one segment one step on if it can, and says whether it did.

  bool sum() {
    if (summed_ == segments_ || !comm_.test(partial_request_)) return false;
    dispatch_float(args_.dtype, [&]<class T>(T) {
      accumulate(reinterpret_cast<T*>(at(summed_)), reinterpret_cast<const T*>(partial_.data()),
                 bytes_in(summed_) / static_cast<std::int64_t>(sizeof(T)));
    });
    if (++summed_ < segments_) expect_partial();
    return true;
  }

  bool send_up() {
    if (sent_up_ == summed_ || last_ || !comm_.test(up_)) return false;
    up_ = comm_.send(at(sent_up_), bytes_in(sent_up_), comm_.rank() + 1, args_.tag);
    ++sent_up_;
    return true;
  }

  bool take_result() {
    if (last_) {  // whose sums are the results
      const bool moved = returned_ < summed_;
      returned_ = summed_;
      return moved;
    }
    // The result overwrites the partial sum, so that must have gone.
    const std::int64_t gone = comm_.test(up_) ? sent_up_ : sent_up_ - 1;
    if (!result_expected_ && returned_ < gone) {
      result_ = comm_.receive(at(returned_), bytes_in(returned_), comm_.rank() + 1, args_.tag);
      result_expected_ = true;
    }
    if (!result_expected_ || !comm_.test(result_)) return false;
    result_expected_ = false;
    ++returned_;
    return true;
  }

  bool send_down() {
    if (first_ || sent_down_ == returned_ || !comm_.test(down_)) return false;
    down_ = comm_.send(at(sent_down_), bytes_in(sent_down_), comm_.rank() - 1, args_.tag);
    ++sent_down_;
    return true;
  }

  void expect_partial() {
    partial_request_ =
        comm_.receive(partial_.data(), bytes_in(summed_), comm_.rank() - 1, args_.tag);
  }

  std::byte* at(std::int64_t segment) const { return data_ + segment * segment_bytes; }
  std::int64_t bytes_in(std::int64_t segment) const {
    return std::min(segment_bytes, bytes_ - segment * segment_bytes);
  }

  Communicator& comm_;
  const CollectiveArgs args_;
  const std::int64_t bytes_, segments_;
  const bool first_, last_;
  const Buffer partial_;  // the sum of the ranks below
  std::byte* data_ = nullptr;
  // How many segments have come how far.
  std::int64_t summed_ = 0, sent_up_ = 0, returned_ = 0, sent_down_ = 0;
  bool result_expected_ = false;
  Request partial_request_, up_, result_, down_;
  InFlight in_flight_{comm_, *this};
};

}  // namespace

std::unique_ptr<Operation> make_chain(Communicator& communicator, const CollectiveArgs& args) {
  return std::make_unique<Chain>(communicator, args);
}

double chain_seconds(const LinkCost& link, int ranks, std::int64_t bytes) {
  if (ranks == 1) return 0;
  const auto segments = static_cast<double>(segments_of(bytes));
  const double segment_seconds =
      link.latency_seconds + static_cast<double>(bytes) / segments * link.seconds_per_byte;
  return (2 * (ranks - 1) + segments - 1) * segment_seconds;
}

}  // namespace tutti::collectives
