// SPDX-License-Identifier: Apache-2.0
// A communicator that counts what its rank sends and has no shared memory, as between processes.
#pragma once

#include "tutti/comm/communicator.h"

#include <vector>

namespace tutti {

struct Sent {
  int messages = 0;
  std::int64_t bytes = 0;
  std::vector<int> tags;  // of the messages, in order
};

// What such ranks are told of their network.
struct FarRanks {
  LinkCost link{1e-6, 1e-10};
  std::int64_t pieces = 0;  // bytes of a piece
  bool has_window = false;
  LinkCost staged = {};  // as measured
};

class CountingTransport final : public Transport {
 public:
  CountingTransport(Communicator& inner, const FarRanks& far, Sent& sent)
      : inner_(inner), sent_(sent) {
    facts_.rank = inner.rank();
    facts_.size = inner.size();
    facts_.network = Network(far.link);
    facts_.network.staged = far.staged;
    facts_.windows = far.has_window;
    facts_.piece_bytes = far.pieces;
  }

  const TransportFacts& facts() const override { return facts_; }
  Request send(const void* data, std::int64_t n, int to, int tag, int) override {
    ++sent_.messages;
    sent_.bytes += n;
    sent_.tags.push_back(tag);
    return inner_.send(data, n, to, tag);
  }
  Request receive(void* data, std::int64_t n, int from, int tag) override {
    return inner_.receive(data, n, from, tag);
  }
  std::optional<Waiting> probe(int tag) override { return inner_.probe(tag); }
  bool test(Request& request) override { return inner_.test(request); }
  Request arrive() override {
    inner_.barrier();
    return {};
  }
  void abort(const std::string& why) override { inner_.abort(why); }
  void check_aborted() const override { inner_.check_aborted(); }
  void abandon() noexcept override { inner_.abandon(); }
  std::byte* window(int rank) override { return facts_.windows ? inner_.window(rank) : nullptr; }
  Activities& activities() override { return activities_; }

 private:
  struct Own final : Activities {
    Activity& own() override { return activity; }
    std::string of(int) override { return "is far"; }
    Activity activity;
  };

  Communicator& inner_;
  Sent& sent_;
  TransportFacts facts_;
  Own activities_;
};

class CountingCommunicator : private Sent, public Communicator {
 public:
  explicit CountingCommunicator(Communicator& inner, const FarRanks& far = {})
      : Communicator(std::make_unique<CountingTransport>(inner, far, static_cast<Sent&>(*this))) {}
  using Sent::bytes, Sent::messages, Sent::tags;
};

}  // namespace tutti
