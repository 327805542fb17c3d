// SPDX-License-Identifier: Apache-2.0
// Messages of ranks that are processes, through MPI. MPI moves nothing by itself while a rank
// computes, so a thread of its own advances the operations in flight; a lock keeps the two apart
// (MPI_THREAD_SERIALIZED). The same thread listens for failures: a rank that fails tells rank 0,
// and rank 0 tells all. After that MPI is not called again, since the memory of messages under way
// is about to go.
#pragma once

#include "tutti/comm/mpi/requests.h"
#include "tutti/comm/transport.h"
#include "tutti/core/dtype.h"

#include <mpi.h>

#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tutti {

class MpiTransport final : public Transport, private Activities {
 public:
  // MPI is initialised before, and finalised by the caller after this object is gone.
  MpiTransport();
  ~MpiTransport() override;

  const TransportFacts& facts() const override { return facts_; }

  Request send(const void* data, std::int64_t bytes, int to, int tag, int urgency) override;
  Request receive(void* data, std::int64_t bytes, int from, int tag) override;
  std::optional<Waiting> probe(int tag) override;
  bool test(Request& request) override;
  Request arrive() override;

  // Returns when rank 0 knows, or does not answer.
  void abort(const std::string& why) override;
  void check_aborted() const override;
  void abandon() noexcept override;
  // Whether a failure of this rank would still be told to rank 0, or has been.
  bool tells() const { return aborted_ || !abandoned_; }

  std::byte* window(int rank) override {
    return windows_.empty() ? nullptr : windows_[static_cast<std::size_t>(rank)];
  }

  std::unique_ptr<Operation> own_allreduce(Communicator& communicator, const CollectiveArgs& args,
                                           bool blocks) override;
  // Begins MPI's own sum in place, over the channel of a tag.
  Request begin_sum(void* data, int count, MPI_Datatype type, MPI_Op sum, MPI_Comm over);
  // The operation by which MPI adds elements of a type.
  MPI_Op sum_of(DType dtype);
  // A channel for collectives of MPI with this tag, made by all ranks together on first use: MPI
  // matches collectives of one channel by their order, which may differ between tags.
  MPI_Comm collective_channel(Communicator& communicator, int tag);

  void serve(Operations& operations) override;
  void lock() override;
  bool try_lock() override;
  void unlock() override { mutex_.unlock(); }

  Activities& activities() override { return *this; }

 private:
  using Lock = std::lock_guard<std::recursive_mutex>;

  Activity& own() override { return activity_; }
  std::string of(int peer) override;

  void require_peer(const char* what, int peer) const;
  Request under_way(void* data, std::int64_t bytes, bool receives, MPI_Request request);
  void look_at_nodes();
  bool several_nodes() const { return facts_.network.node_ranks != facts_.size; }
  void share_window(MPI_Comm node);

  // The thread's work.
  void listen_and_serve();
  void serve_operations();
  bool rank_polls() const;
  void listen();
  void tell(int to, int tag, const std::string& text);
  int question_tag() const { return facts_.size; }
  int answer_tag() const { return facts_.size + 1; }
  void end(int failed, const std::string& why);

  TransportFacts facts_;
  struct Channels {
    MPI_Comm messages = MPI_COMM_NULL, control = MPI_COMM_NULL, failures = MPI_COMM_NULL;
  };
  Channels channels_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::byte*> windows_;  // by rank, where all are on one node

  std::recursive_mutex mutex_;  // guards MPI, the operations and what follows
  MpiRequests requests_;
  Operations* operations_ = nullptr;   // which the thread advances
  std::exception_ptr thrown_;          // by an operation: advanced by the thread, or dropped
  bool abandoned_ = false;             // memory of messages under way may be gone already
  bool serving_ = false;               // the thread advances operations
  std::map<int, std::string> states_;  // by peer: what it has answered that it is doing
  std::map<int, MPI_Comm> collective_channels_;  // by tag
  MPI_Op bf16_sum_ = MPI_OP_NULL;                // made on first use
  Activity activity_;

  std::atomic<bool> has_thrown_{false};
  struct Failure {
    int rank = 0;
    std::string why;
  };
  std::atomic<bool> aborted_{false};  // failure_ is not written again once it is set
  Failure failure_;
  std::atomic<std::int64_t> last_poll_{0};  // when the rank last polled, in nanoseconds
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace tutti
