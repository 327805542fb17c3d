// SPDX-License-Identifier: Apache-2.0
// What a rank can do with its peers: tagged messages, a barrier, and bringing the whole job down,
// on any transport. Collectives are written once on top of it. A Communicator is used by one thread
// at a time.
#pragma once

#include "tutti/comm/operation.h"
#include "tutti/comm/sealed_messages.h"
#include "tutti/comm/tags.h"
#include "tutti/comm/transport.h"
#include "tutti/core/error.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace tutti {

// Thrown on a rank that waits for a job in which a rank has failed: "rank 1 failed: …".
class Aborted : public Error {
 public:
  Aborted(int rank, const std::string& why) : Error("rank {} failed: {}", rank, why) {}
};

class Communicator {
 public:
  explicit Communicator(std::unique_ptr<Transport> transport);

  int rank() const { return facts_.rank; }
  int size() const { return facts_.size; }
  // Whether this end is an endpoint beside a rank: endpoints have the numbers behind the ranks.
  bool is_endpoint() const { return facts_.rank >= facts_.size; }
  // What plans are made from; set_network() changes its network.
  const TransportFacts& facts() const { return facts_; }
  const Network& network() const { return facts_.network; }
  // From now on plans reckon with these costs, measured ones in place of the usual. They are the
  // same on all ranks.
  void set_network(const Network& network) { facts_.network = network; }
  // The numbers by which messages are told apart.
  Tags& tags() { return tags_; }

  // Messages as in Transport; sender and receiver state the same bytes.
  Request send(const void* data, std::int64_t bytes, int to, int tag, int urgency = 0);
  Request receive(void* data, std::int64_t bytes, int from, int tag);
  bool test(Request& request);
  // A message of this tag from any rank, to be received next: its sender and its bytes.
  std::optional<Waiting> probe(int tag);

  // From now on a message that has changed, was repeated or was overtaken on the way is an error
  // that names its sender and receiver (sealed_messages.h). Called on all ranks, with no messages
  // under way.
  void check_messages() { seals_.emplace(); }
  bool checks_messages() const { return seals_.has_value(); }

  void barrier();
  // Says that this rank has come to the barrier; the request is complete when all ranks have.
  Request arrive() { return transport_->arrive(); }
  void abort(const std::string& why) { transport_->abort(why); }
  void check_aborted() const { transport_->check_aborted(); }
  void abandon() noexcept { transport_->abandon(); }

  // See Transport.
  SharedMemory* shared() { return transport_->shared(); }
  std::byte* window(int rank) { return transport_->window(rank); }
  std::unique_ptr<Operation> own_allreduce(const CollectiveArgs& args, bool blocks) {
    return transport_->own_allreduce(*this, args, blocks);
  }
  std::int64_t piece_bytes() const { return facts_.piece_bytes; }
  int core_sharers() const { return facts_.core_sharers; }
  void lock() { transport_->lock(); }
  bool try_lock() { return transport_->try_lock(); }
  void unlock() { transport_->unlock(); }
  RankClock& clock() { return transport_->clock(); }
  double seconds() const { return transport_->clock().seconds(); }

  // Keeps a text as long as the communicator lives, for set_doing() and the names of operations.
  const char* keep(const std::string& text);
  // Says what this rank is computing; a peer that waits for it in vain reports the text.
  void set_doing(const char* what) {
    transport_->activities().own().doing.store(what, std::memory_order_relaxed);
  }
  // Seconds that this rank waits for its peers before it throws an Error; 0: for ever.
  void set_patience(double seconds) { patience_seconds_ = seconds; }

  // Bytes that this rank has given to its peers, by messages or through shared memory.
  std::int64_t sent_bytes() const { return sent_bytes_.load(std::memory_order_relaxed); }
  void count_sent(std::int64_t bytes) { sent_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  Operations& operations() { return operations_; }
  // Advances every operation in flight; throws Aborted when a rank has failed. All waits call it,
  // so ranks may wait for their operations in different orders.
  void progress();

 private:
  friend class InFlight;
  friend class Wait;
  TransportFacts facts_;
  Operations operations_;
  Tags tags_;
  std::set<std::string> texts_;
  double patience_seconds_ = 0;
  std::atomic<std::int64_t> sent_bytes_{0};
  std::optional<SealedMessages> seals_;
  // Destroyed first, since its thread may advance operations.
  std::unique_ptr<Transport> transport_;
};

// A thread's turn to advance operations; false while another thread has it.
class Turn {
 public:
  explicit Turn(Communicator& communicator)
      : communicator_(communicator), mine_(communicator.try_lock()) {}
  ~Turn() {
    if (mine_) communicator_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  Communicator& communicator_;
  const bool mine_;
};

// A member of every operation, which tells whether the operation is in flight. progress() advances
// operations in flight. When one is destroyed in flight, by an error that unwinds, the transport is
// abandoned before the operation's memory goes.
class InFlight {
 public:
  InFlight(Communicator& communicator, Operation& operation);
  ~InFlight();
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  void begin();
  void end();
  explicit operator bool() const { return active_; }

 private:
  Communicator& communicator_;
  Operation& operation_;
  bool active_ = false;
};

// Wait until the operation or request is complete, until the operation's result may be read
// (wait_ready), or until `over` returns true. They throw Aborted when a rank has failed meanwhile,
// and Error when patience is at an end.
void wait(Operation& operation, Communicator& communicator);
void wait_ready(Operation& operation, Communicator& communicator);
// `what` says in that Error what was waited for.
void wait(Request& request, Communicator& communicator, const char* what = "a message");
void wait_until(const std::function<bool()>& over, Communicator& communicator, const char* what);

}  // namespace tutti
