// SPDX-License-Identifier: Apache-2.0
// What a rank can do with its peers: tagged messages, a barrier, and bringing the whole job down.
// Transports (threads, and others through this interface) implement Communicator; collectives are
// written once on top of it. A Communicator is used by one thread at a time.
#pragma once

#include "tutti/comm/network.h"
#include "tutti/comm/sealed_messages.h"
#include "tutti/core/error.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tutti {

class Operation;
class SharedMemory;
struct CollectiveArgs;

// A pending message; its fields are the transport's own. A default Request is complete.
struct Request {
  void* handle = nullptr;
  void* data = nullptr;
  std::int64_t bytes = 0;
  std::uint64_t number = 0;
  int state = 0;
  SealedMessage* sealed = nullptr;  // the communicator's, where it checks messages
};

// Thrown on a rank that waits for a job in which a rank has failed: "rank 1 failed: …".
class Aborted : public Error {
 public:
  Aborted(int rank, const std::string& why) : Error("rank {} failed: {}", rank, why) {}
};

// What a rank tells of itself while it works.
struct Activity {
  std::atomic<const char*> doing{nullptr};
  std::atomic<const char*> waits_for{nullptr};
  std::string text() const;
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Messages of one tag between two ranks arrive in the order they were sent. The memory stays
  // untouched by the caller until test() has said true; both sides state the same bytes.
  Request send(const void* data, std::int64_t bytes, int to, int tag);
  Request receive(void* data, std::int64_t bytes, int from, int tag);
  // Makes what progress is possible; true, for ever after, when the message is complete.
  bool test(Request& request);

  // From now on a message that has changed, was repeated or was overtaken on the way is an error
  // that names its sender and receiver (sealed_messages.h). Called on all ranks, with no messages
  // under way.
  void check_messages() { seals_.emplace(); }
  bool checks_messages() const { return seals_.has_value(); }

  virtual void barrier() = 0;

  // The job has failed: every rank's waits throw Aborted. The first reason given counts.
  virtual void abort(const std::string& why) = 0;
  virtual void check_aborted() const = 0;

  // When this returns, no peer reads or writes this rank's memory any more. For destructors of
  // what is still in flight: the rank is failing, and its memory is about to go.
  virtual void abandon() noexcept {}

  // Where ranks can read each other's memory, else nullptr.
  virtual SharedMemory* shared() { return nullptr; }

  // Where ranks see some memory in common though not each other's buffers, the part of a rank, as
  // window.h lays it out; else nullptr.
  virtual std::byte* window(int) { return nullptr; }

  // An allreduce that the transport brings itself, else nullptr. All ranks make theirs in the same
  // order. One that blocks is for comparison only: it can't hear of the failure of another rank.
  virtual bool has_own_allreduce() const { return false; }
  virtual std::unique_ptr<Operation> own_allreduce(const CollectiveArgs& args, bool blocks);

  // What a rank is in and what it waits for, told to those who wait for it in vain. Texts are kept
  // as long as the communicator.
  const char* keep(const std::string& text);
  void set_doing(const char* what) { activity().doing.store(what, std::memory_order_relaxed); }
  // What a peer says that it does: "is in convolution of conv1".
  virtual std::string state_of(int peer) = 0;
  // How long a rank waits for its peers before it gives up, saying so; 0: for ever.
  void set_patience(double seconds) { patience_seconds_ = seconds; }

  // How many ranks of this machine run on the cores that this one may use.
  virtual int core_sharers() const { return size(); }

  // Where a thread of the transport advances operations too, these keep it out meanwhile; a thread
  // may lock several times.
  virtual void lock() {}
  virtual bool try_lock() { return true; }
  virtual void unlock() {}

  // Collectives cut messages into pieces of so many bytes; 0: they don't. The same on all ranks.
  virtual std::int64_t piece_bytes() const { return 0; }

  // So many pieces are under way from this rank, of all its operations: few at a time, so that what
  // is urgent need not wait behind all the rest.
  int& pieces_under_way() { return pieces_under_way_; }
  // Lets operations send pieces, the most urgent first, none before those that are more urgent.
  void send_pieces();

  // This rank's clock. Where time is virtual it goes on only while the rank waits or spends.
  virtual double seconds() const;
  // Where time is virtual: the rank has computed for so long on a machine of speed 1.
  virtual void spend(double) {}
  // Where time is virtual: complete when so many bytes would have been added, beside computing.
  virtual Request charge_additions(std::int64_t) { return {}; }
  // Where time is virtual: others go on until something happened to this rank; else false.
  virtual bool give_way() { return false; }

  // What messages are expected to cost, for choosing among algorithms; the same on all ranks.
  virtual Network network() const;
  // Measured costs in place of usual ones.
  void set_network(const Network& network) { network_ = network; }

  // Bytes that this rank has given to its peers, by messages or through shared memory.
  std::int64_t sent_bytes() const { return sent_bytes_.load(std::memory_order_relaxed); }
  void count_sent(std::int64_t bytes) { sent_bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  // Advances every operation in flight; throws Aborted when a rank has failed. All waits call it,
  // so ranks may wait for their operations in different orders.
  void progress();

 protected:
  // What transports bring for send(), receive() and test().
  virtual Request post_send(const void* data, std::int64_t bytes, int to, int tag) = 0;
  virtual Request post_receive(void* data, std::int64_t bytes, int from, int tag) = 0;
  virtual bool test_posted(Request& request) = 0;

  virtual Activity& activity() = 0;
  bool any_in_flight() const { return !in_flight_.empty(); }
  void advance_all();

 private:
  friend class InFlight;
  friend class Wait;
  std::vector<Operation*> in_flight_;  // the most urgent first
  std::set<std::string> texts_;
  double patience_seconds_ = 0;
  std::atomic<std::int64_t> sent_bytes_{0};
  int pieces_under_way_ = 0;
  std::optional<Network> network_;
  std::optional<SealedMessages> seals_;
};

// A nonblocking operation, made once and started every step. Starting and advancing it takes no
// lock and allocates nothing. Destroy it before the data it works on and before its Communicator.
class Operation {
 public:
  virtual ~Operation() = default;
  // Begins, in place on `data`, which the caller leaves alone until the operation is complete.
  virtual void start(void* data) = 0;
  // Makes the progress that peers may be waiting for, without blocking; true when complete. Called
  // by the thread that uses the communicator or by one of the transport, see Turn.
  virtual bool advance() = 0;
  // Makes all progress that is possible; true when the result may be read, though peers may still
  // be reading the data.
  virtual bool ready() { return advance(); }
  // "reduce of conv1 (tag 7, 400 bytes)"; lives as long as the operation's communicator.
  virtual const char* what() const { return "a message"; }
  // Where several are in flight, the lowest go first.
  virtual int urgency() const { return 0; }
  // Sends more of its pieces, where none more urgent has any to send; false: there is no room for
  // all of them.
  virtual bool send_pieces() { return true; }
};

// A thread's turn to advance an operation; false while another thread does.
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

// A member of an operation that says when it is in flight: progress() then advances it, and when it
// is destroyed in flight, by an error that unwinds, the job is abandoned before the data goes.
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

// Wait until complete, until the result may be read, or until `over` says so; throw Aborted when a
// rank has failed meanwhile.
void wait(Operation& operation, Communicator& communicator);
void wait_ready(Operation& operation, Communicator& communicator);
// `what` is for the message when that takes too long.
void wait(Request& request, Communicator& communicator, const char* what = "a message");
void wait_until(const std::function<bool()>& over, Communicator& communicator, const char* what);

}  // namespace tutti
