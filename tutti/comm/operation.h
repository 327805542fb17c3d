// SPDX-License-Identifier: Apache-2.0
// What a rank does with its peers while it computes: messages and collectives that are started,
// then advanced bit by bit, and at last complete.
#pragma once

#include <vector>

namespace tutti {

struct DeviceEvent;

// A nonblocking operation, made once and started in every step. Starting and advancing it allocates
// nothing after the first times. Destroy it before the data it works on and before its
// Communicator.
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
  // "allreduce_block of conv1 (tag 7, 400 bytes)"; lives as long as the operation's communicator.
  virtual const char* what() const { return "a message"; }
  // Of several operations in flight, the one with the lowest number goes first.
  virtual int urgency() const { return 0; }
  // Where the data lies on a device: the event that streams wait for before they read the result,
  // valid when ready() has returned true. nullptr: the result is there as soon as ready() is true.
  virtual DeviceEvent* result_event() const { return nullptr; }
  // Sends more of this operation's pieces; false when some of them must wait until others have
  // left.
  virtual bool send_pieces() { return true; }
};

// The operations of a rank that are under way, the most urgent first.
class Operations {
 public:
  bool any() const { return !in_flight_.empty(); }
  // Makes room for one more operation, so that begin() allocates nothing.
  void reserve_one() { in_flight_.reserve(in_flight_.capacity() + 1); }
  void begin(Operation& operation);
  void end(Operation& operation) { std::erase(in_flight_, &operation); }

  void advance();
  // Lets operations send pieces, the most urgent first, until one of them must wait.
  void send_pieces();
  // How many pieces this rank has under way, over all its operations. They are kept few, so that an
  // urgent message need not wait behind all the others.
  int pieces_under_way = 0;

 private:
  std::vector<Operation*> in_flight_;
};

}  // namespace tutti
