// SPDX-License-Identifier: Apache-2.0
// The ring's reduce-scatter in fixed order: each rank sends every other its part and adds what it
// receives for its own in rank order. The same volume and number of messages as around the ring.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/part.h"
#include "tutti/core/tensor.h"

#include <algorithm>
#include <cstring>

namespace tutti::collectives {
namespace {

class PairwiseReduceScatter final : public Operation {
 public:
  PairwiseReduceScatter(Communicator& communicator, const CollectiveArgs& args)
      : comm_(communicator),
        args_(args),
        ranks_(communicator.size()),
        part_(part(communicator.rank())),
        bytes_(part_.count() * bytes_of(args.dtype)),
        sum_(bytes_),
        summand_(bytes_),
        sends_(static_cast<std::size_t>(ranks_)) {}

  void start(void* data) override {
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    added_ = 0;
    for (int n = 1; n < ranks_; ++n) {
      const int to = (comm_.rank() + n) % ranks_;
      sends_[static_cast<std::size_t>(to)] =
          comm_.send(at(part(to)), part(to).count() * bytes_of(args_.dtype), to, args_.tag);
    }
    if (ranks_ > 1) expect();
  }

  bool advance() override {
    if (!in_flight_) return true;
    while (ranks_ > 1 && added_ < ranks_) {
      if (!own() && !comm_.test(receive_)) return false;
      add(own() ? at(part_) : summand_.data());
      if (++added_ < ranks_) expect();
    }
    for (Request& send : sends_)
      if (!comm_.test(send)) return false;
    in_flight_.end();
    return true;
  }

 private:
  Part part(int rank) const { return part_of(args_.count, args_.dtype, rank, ranks_); }
  std::byte* at(const Part& part) const { return data_ + part.begin * bytes_of(args_.dtype); }

  bool own() const { return added_ == comm_.rank(); }  // whether the next summand is
  void expect() {
    if (!own()) receive_ = comm_.receive(summand_.data(), bytes_, added_, args_.tag);
  }

  // The sum grows in its own memory: the rank's own summand must wait for its turn.
  void add(const std::byte* summand) {
    const auto bytes = static_cast<std::size_t>(bytes_);
    if (bytes == 0) return;
    if (added_ == 0)
      std::memcpy(sum_.data(), summand, bytes);
    else
      dispatch_float(args_.dtype, [&]<class T>(T) {
        accumulate(reinterpret_cast<T*>(sum_.data()), reinterpret_cast<const T*>(summand),
                   part_.count());
      });
    if (added_ == ranks_ - 1) std::memcpy(at(part_), sum_.data(), bytes);
  }

  Communicator& comm_;
  const CollectiveArgs args_;
  const int ranks_;
  const Part part_;
  const std::int64_t bytes_;
  const Buffer sum_, summand_;
  std::vector<Request> sends_;  // by receiver
  std::byte* data_ = nullptr;
  int added_ = 0;  // summands
  Request receive_;
  InFlight in_flight_{comm_, *this};
};

}  // namespace

std::unique_ptr<Operation> make_pairwise_reduce_scatter(Communicator& communicator,
                                                        const CollectiveArgs& args) {
  return std::make_unique<PairwiseReduceScatter>(communicator, args);
}

}  // namespace tutti::collectives
