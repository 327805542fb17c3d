// SPDX-License-Identifier: Apache-2.0
// How bytes get from rank to rank: threads, MPI, a virtual clock. A Communicator owns one and adds
// what all transports have in common.
#pragma once

#include "tutti/comm/activity.h"
#include "tutti/comm/network.h"
#include "tutti/comm/rank_clock.h"
#include "tutti/comm/request.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tutti {

class Communicator;
class Operation;
class Operations;
class SharedMemory;
struct CollectiveArgs;

// What is known of a transport without sending anything: plans are made from it. The same on all
// ranks, but for `rank` and `core_sharers`.
struct TransportFacts {
  int rank = 0, size = 1;
  // Endpoints beside ranks, which send and receive messages and take part in nothing else. The
  // endpoint beside rank k has the number size + k.
  int endpoints = 0;
  // What messages are expected to cost, for choosing among algorithms; by default that of copies
  // through memory.
  Network network = {usual_memory, usual_memory, 1};
  bool shared_memory = false;  // ranks can work on each other's buffers
  bool windows = false;        // ranks see some memory in common
  bool own_allreduce = false;  // the transport brings an allreduce of its own
  // Collectives cut messages into pieces of so many bytes; 0: they don't.
  std::int64_t piece_bytes = 0;
  int core_sharers = 1;  // ranks that may use the same cores as this one, itself included
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual const TransportFacts& facts() const = 0;

  // Messages of one tag between two ends arrive in the order they were sent. The caller leaves the
  // memory alone until test() has returned true. Both sides state the same bytes. Where messages
  // wait for a line, the one with the lowest number `urgency` goes first.
  virtual Request send(const void* data, std::int64_t bytes, int to, int tag, int urgency) = 0;
  virtual Request receive(void* data, std::int64_t bytes, int from, int tag) = 0;
  // A message of this tag that any rank has sent to this one and that it has not asked for; the
  // next call may name another sender.
  virtual std::optional<Waiting> probe(int tag) = 0;
  // Makes what progress is possible; true, for ever after, when the message is complete.
  virtual bool test(Request& request) = 0;
  // Says that this rank has come to the barrier; the request is complete when all ranks have.
  virtual Request arrive() = 0;

  // Fails the job: the waits of all ranks throw Aborted. The first reason that is given counts.
  virtual void abort(const std::string& why) = 0;
  virtual void check_aborted() const = 0;
  // When this returns, no peer reads or writes this rank's memory any more. For destructors of
  // operations in flight: the rank is failing, and its memory is about to go.
  virtual void abandon() noexcept {}

  // The boards of ranks that can work on each other's buffers; nullptr where they can't.
  virtual SharedMemory* shared() { return nullptr; }
  // The window of a rank, laid out as in window.h, where ranks see some memory in common though not
  // each other's buffers; else nullptr.
  virtual std::byte* window(int) { return nullptr; }

  // An allreduce of all ranks that the transport brings itself, else nullptr. All ranks make theirs
  // in the same order. When the last argument is true it blocks: that is for comparison only, as it
  // can't hear of the failure of another rank.
  virtual std::unique_ptr<Operation> own_allreduce(Communicator&, const CollectiveArgs&, bool) {
    return nullptr;
  }

  // The transport may advance these operations from a thread of its own until it is destroyed;
  // lock() keeps that thread out until unlock(). A thread may lock several times.
  virtual void serve(Operations&) {}
  virtual void lock() {}
  virtual bool try_lock() { return true; }
  virtual void unlock() {}

  virtual RankClock& clock() { return clock_; }
  virtual Activities& activities() = 0;

 private:
  RankClock clock_;
};

}  // namespace tutti
