// SPDX-License-Identifier: Apache-2.0
// A communicator that counts what its rank sends and has no shared memory, as between processes.
#pragma once

#include "tutti/comm/communicator.h"

#include <vector>

namespace tutti {

class CountingCommunicator final : public Communicator {
 public:
  explicit CountingCommunicator(Communicator& inner) : inner_(inner) {}

  int messages = 0;
  std::int64_t bytes = 0;
  std::vector<int> tags;  // of the messages sent, in order
  LinkCost link{1e-6, 1e-10};
  std::int64_t pieces = 0;  // bytes of a piece
  bool has_window = false;
  LinkCost staged = {};  // as measured

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::byte* window(int rank) override { return has_window ? inner_.window(rank) : nullptr; }
  void barrier() override { inner_.barrier(); }
  void abort(const std::string& why) override { inner_.abort(why); }
  void check_aborted() const override { inner_.check_aborted(); }
  void abandon() noexcept override { inner_.abandon(); }
  Network network() const override {
    Network network(link);
    network.staged = staged;
    return network;
  }
  std::int64_t piece_bytes() const override { return pieces; }
  std::string state_of(int peer) override { return inner_.state_of(peer); }

 protected:
  Request post_send(const void* data, std::int64_t n, int to, int tag) override {
    ++messages;
    bytes += n;
    tags.push_back(tag);
    return inner_.send(data, n, to, tag);
  }
  Request post_receive(void* data, std::int64_t n, int from, int tag) override {
    return inner_.receive(data, n, from, tag);
  }
  bool test_posted(Request& request) override { return inner_.test(request); }
  Activity& activity() override { return activity_; }

 private:
  Communicator& inner_;
  Activity activity_;
};

}  // namespace tutti
