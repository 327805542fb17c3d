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
  // Ends beside ranks, which send and receive messages and take part in nothing else: that beside
  // rank k is the end size + k.
  int endpoints = 0;
  // What messages are expected to cost, for choosing among algorithms; at first that of copies
  // through memory.
  Network network = {usual_memory, usual_memory, 1};
  bool shared_memory = false;  // ranks can work on each other's buffers
  bool windows = false;        // ranks see some memory in common
  bool own_allreduce = false;  // the transport brings one
  // Collectives cut messages into pieces of so many bytes; 0: they don't.
  std::int64_t piece_bytes = 0;
  int core_sharers = 1;  // ranks of this machine on the cores that this one may use
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual const TransportFacts& facts() const = 0;

  // Messages of one tag between two ends arrive in the order they were sent. The memory stays
  // untouched by the caller until test() has said true; both sides state the same bytes. Where
  // messages wait for a line, the one with the least urgency goes first.
  virtual Request send(const void* data, std::int64_t bytes, int to, int tag, int urgency) = 0;
  virtual Request receive(void* data, std::int64_t bytes, int from, int tag) = 0;
  // A message of this tag that any rank has sent and this one has not asked for; the next call may
  // name another sender's.
  virtual std::optional<Waiting> probe(int tag) = 0;
  // Makes what progress is possible; true, for ever after, when the message is complete.
  virtual bool test(Request& request) = 0;
  // This rank has come to the barrier: complete when all have.
  virtual Request arrive() = 0;

  // The job has failed: every rank's waits throw Aborted. The first reason given counts.
  virtual void abort(const std::string& why) = 0;
  virtual void check_aborted() const = 0;
  // When this returns, no peer reads or writes this rank's memory any more. For destructors of
  // what is still in flight: the rank is failing, and its memory is about to go.
  virtual void abandon() noexcept {}

  // Where ranks can work on each other's buffers, else nullptr.
  virtual SharedMemory* shared() { return nullptr; }
  // Where ranks see some memory in common though not each other's buffers, the part of a rank, as
  // window.h lays it out; else nullptr.
  virtual std::byte* window(int) { return nullptr; }

  // An allreduce of all ranks that the transport brings itself, else nullptr. All ranks make theirs
  // in the same order. One that blocks is for comparison only: it can't hear of the failure of
  // another rank.
  virtual std::unique_ptr<Operation> own_allreduce(Communicator&, const CollectiveArgs&, bool) {
    return nullptr;
  }

  // The transport may advance these operations from a thread of its own, until it ends; lock() and
  // unlock() keep it out meanwhile. A thread may lock several times.
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
