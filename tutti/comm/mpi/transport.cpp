// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/mpi/transport.h"

#include "tutti/comm/communicator.h"
#include "tutti/comm/mpi/call.h"
#include "tutti/comm/window.h"
#include "tutti/core/cores.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>

namespace tutti {
namespace {

enum { complete, incomplete };  // states of a Request

// A rank that has polled within so many nanoseconds advances its operations itself.
constexpr std::int64_t poll_ns = 100'000;
// Seconds between tests by MPI where ranks are on several nodes: messages take longer there.
constexpr double network_pause = 5e-6;
constexpr std::chrono::nanoseconds busy_pause(poll_ns), idle_pause(1'000'000);
// The thread's longest pause where ranks are on several nodes. Each look at the sockets takes 20 µs
// or more from computing, on a virtual machine: after a look that finds nothing the pause doubles,
// after one that finds many pieces it halves.
constexpr std::chrono::nanoseconds longest_network_pause(5 * poll_ns);
constexpr std::int64_t many_pieces = 4;
// Open MPI asks before it sends long messages, and puts the permission behind what it sends itself:
// two ranks of different nodes that exchange them would take turns instead of using both directions
// of the line. Messages below 64 KiB go without asking.
constexpr std::int64_t network_piece_bytes = 60 << 10;
constexpr auto patience = std::chrono::seconds(3);  // that a rank waits for an answer

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A number of bytes as MPI takes it. MPI counts in an int: more bytes become one element of a type
// made for them.
class Bytes {
 public:
  explicit Bytes(std::int64_t bytes) {
    if (bytes <= INT_MAX) {
      count = static_cast<int>(bytes);
      return;
    }
    constexpr int chunk = 1 << 30;
    MPI_Datatype chunks = MPI_DATATYPE_NULL;
    mpi(MPI_Type_vector(static_cast<int>(bytes / chunk), chunk, chunk, MPI_BYTE, &chunks),
        "MPI_Type_vector");
    const int lengths[] = {1, static_cast<int>(bytes % chunk)};
    const MPI_Aint places[] = {0, static_cast<MPI_Aint>(bytes - bytes % chunk)};
    const MPI_Datatype types[] = {chunks, MPI_BYTE};
    mpi(MPI_Type_create_struct(2, lengths, places, types, &type), "MPI_Type_create_struct");
    mpi(MPI_Type_commit(&type), "MPI_Type_commit");
    MPI_Type_free(&chunks);
    count = 1;
  }
  ~Bytes() {
    if (type != MPI_BYTE) MPI_Type_free(&type);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

MPI_Comm copy_of_world() {
  MPI_Comm copy = MPI_COMM_NULL;
  mpi(MPI_Comm_dup(MPI_COMM_WORLD, &copy), "MPI_Comm_dup");
  mpi(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return copy;
}

}  // namespace

MpiTransport::MpiTransport() : channels_{copy_of_world(), copy_of_world(), copy_of_world()} {
  mpi(MPI_Comm_rank(channels_.messages, &facts_.rank), "MPI_Comm_rank");
  mpi(MPI_Comm_size(channels_.messages, &facts_.size), "MPI_Comm_size");
  facts_.own_allreduce = true;
  look_at_nodes();
}

void MpiTransport::serve(Operations& operations) {
  operations_ = &operations;
  thread_ = std::thread([this] {
    run_on_any_core();
    listen_and_serve();
  });
}

MpiTransport::~MpiTransport() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  if (aborted_) return;  // messages may be under way for ever
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  for (auto& [tag, channel] : collective_channels_) MPI_Comm_free(&channel);
  if (bf16_sum_ != MPI_OP_NULL) MPI_Op_free(&bf16_sum_);
  for (MPI_Comm* one : {&channels_.messages, &channels_.control, &channels_.failures})
    MPI_Comm_free(one);
}

// Which ranks share a node, and which of those were given the same cores as this one.
void MpiTransport::look_at_nodes() {
  MPI_Comm node = MPI_COMM_NULL;
  mpi(MPI_Comm_split_type(channels_.messages, MPI_COMM_TYPE_SHARED, facts_.rank, MPI_INFO_NULL,
                          &node),
      "MPI_Comm_split_type");
  int in_node = 1;
  MPI_Comm_size(node, &in_node);
  std::uint64_t cores = 0;
  for (int core : allowed_cores()) cores = cores * 31 + static_cast<std::uint64_t>(core) + 1;
  std::vector<std::uint64_t> all_cores(static_cast<std::size_t>(in_node));
  mpi(MPI_Allgather(&cores, 1, MPI_UINT64_T, all_cores.data(), 1, MPI_UINT64_T, node),
      "MPI_Allgather");
  facts_.core_sharers = static_cast<int>(std::count(all_cores.begin(), all_cores.end(), cores));

  int first = facts_.rank;  // of the node
  mpi(MPI_Bcast(&first, 1, MPI_INT, 0, node), "MPI_Bcast");
  std::vector<int> firsts(static_cast<std::size_t>(facts_.size));
  mpi(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, channels_.messages),
      "MPI_Allgather");
  if (in_node == facts_.size) share_window(node);
  MPI_Comm_free(&node);
  const int node_ranks = static_cast<int>(std::count(firsts.begin(), firsts.end(), 0));
  bool consecutive = true;
  for (int peer = 0; peer < facts_.size; ++peer)
    consecutive &= firsts[static_cast<std::size_t>(peer)] == peer - peer % node_ranks;
  facts_.network = Network(usual_network, usual_memory, consecutive ? node_ranks : 1);
  if (several_nodes()) {
    requests_.set_pause(network_pause);
    facts_.piece_bytes = network_piece_bytes;
  }
}

// Allocates the windows of the ranks of a node; where that does not work, ranks go without.
void MpiTransport::share_window(MPI_Comm node) {
  void* own = nullptr;
  if (MPI_Win_allocate_shared(sizeof(Window), 1, MPI_INFO_NULL, node, &own, &window_) !=
      MPI_SUCCESS)
    return;
  std::memset(own, 0, sizeof(Window));
  for (int rank = 0; rank < facts_.size; ++rank) {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* window = nullptr;
    mpi(MPI_Win_shared_query(window_, rank, &bytes, &unit, &window), "MPI_Win_shared_query");
    windows_.push_back(static_cast<std::byte*>(window));
  }
  facts_.windows = true;
  mpi(MPI_Barrier(node), "MPI_Barrier");
}

void MpiTransport::lock() { mutex_.lock(); }
bool MpiTransport::try_lock() {
  if (!mutex_.try_lock()) return false;
  if (!serving_) last_poll_.store(now_ns(), std::memory_order_relaxed);
  return true;
}

Request MpiTransport::send(const void* data, std::int64_t bytes, int to, int tag, int) {
  require_peer("send to", to);
  const Lock lock(mutex_);
  check_aborted();
  const Bytes all(bytes);
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi(MPI_Isend(data, all.count, all.type, to, tag, channels_.messages, &handle), "MPI_Isend");
  return under_way(const_cast<void*>(data), bytes, false, handle);
}

Request MpiTransport::receive(void* data, std::int64_t bytes, int from, int tag) {
  require_peer("receive from", from);
  const Lock lock(mutex_);
  check_aborted();
  const Bytes all(bytes);
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi(MPI_Irecv(data, all.count, all.type, from, tag, channels_.messages, &handle), "MPI_Irecv");
  return under_way(data, bytes, true, handle);
}

// A request that receives has a handle.
Request MpiTransport::under_way(void* data, std::int64_t bytes, bool receives,
                                MPI_Request request) {
  return {receives ? this : nullptr, data, bytes, requests_.add(request), incomplete};
}

bool MpiTransport::test(Request& request) {
  if (request.state == complete) return true;
  const Lock lock(mutex_);
  if (aborted_ || abandoned_) return false;
  MPI_Status status;
  if (!requests_.test(request.number, status)) return false;
  const int code = status.MPI_ERROR;
  int kind = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &kind);
  if (kind == MPI_ERR_TRUNCATE)
    throw Error("rank {} sends more than {} bytes with tag {} to rank {}, which expects {} bytes",
                status.MPI_SOURCE, request.bytes, status.MPI_TAG, facts_.rank, request.bytes);
  mpi(code, "MPI_Testsome");
  request.state = complete;
  MPI_Count got = 0;
  if (request.handle != nullptr && MPI_Get_elements_x(&status, MPI_BYTE, &got) == MPI_SUCCESS &&
      got != request.bytes)
    throw Error("rank {} sends {} bytes with tag {} to rank {}, which expects {} bytes",
                status.MPI_SOURCE, static_cast<std::int64_t>(got), status.MPI_TAG, facts_.rank,
                request.bytes);
  return true;
}

std::optional<Waiting> MpiTransport::probe(int tag) {
  const Lock lock(mutex_);
  check_aborted();
  int there = 0;
  MPI_Status status;
  mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag, channels_.messages, &there, &status), "MPI_Iprobe");
  if (there == 0) return std::nullopt;
  MPI_Count bytes = 0;
  mpi(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
  return Waiting{status.MPI_SOURCE, bytes};
}

Request MpiTransport::arrive() {
  const Lock lock(mutex_);
  check_aborted();
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi(MPI_Ibarrier(channels_.control, &handle), "MPI_Ibarrier");
  return under_way(nullptr, 0, false, handle);
}

MPI_Comm MpiTransport::collective_channel(Communicator& communicator, int tag) {
  const auto [found, is_new] = collective_channels_.try_emplace(tag, MPI_COMM_NULL);
  if (!is_new) return found->second;
  Request request;
  {
    const Lock lock(mutex_);
    check_aborted();
    MPI_Request handle = MPI_REQUEST_NULL;
    mpi(MPI_Comm_idup(channels_.messages, &found->second, &handle), "MPI_Comm_idup");
    request = under_way(nullptr, 0, false, handle);
  }
  wait(request, communicator, "a channel for the collectives of MPI");
  mpi(MPI_Comm_set_errhandler(found->second, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return found->second;
}

Request MpiTransport::begin_sum(void* data, int count, MPI_Datatype type, MPI_Op sum,
                                MPI_Comm over) {
  const Lock lock(mutex_);
  check_aborted();
  MPI_Request handle = MPI_REQUEST_NULL;
  mpi(MPI_Iallreduce(MPI_IN_PLACE, data, count, type, sum, over, &handle), "MPI_Iallreduce");
  return under_way(data, 0, false, handle);
}

void MpiTransport::require_peer(const char* what, int peer) const {
  if (peer == facts_.rank) throw Error("rank {} can't {} itself", facts_.rank, what);
  if (peer < 0 || peer >= facts_.size)
    throw Error("rank {} can't {} rank {}: the job has ranks 0 to {}", facts_.rank, what, peer,
                facts_.size - 1);
}

// ---- failures

void MpiTransport::abort(const std::string& why) {
  {
    const Lock lock(mutex_);
    if (facts_.rank == 0 || abandoned_)
      end(facts_.rank, why);
    else if (!aborted_)
      tell(0, facts_.rank, why);
  }
  // The thread receives rank 0's answer and sets aborted_.
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!aborted_ && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Lock lock(mutex_);
  end(facts_.rank, why);
}

void MpiTransport::check_aborted() const {
  if (aborted_.load(std::memory_order_acquire)) throw Aborted(failure_.rank, failure_.why);
  if (has_thrown_.load(std::memory_order_acquire)) std::rethrow_exception(thrown_);
}

void MpiTransport::abandon() noexcept {
  const Lock lock(mutex_);
  abandoned_ = true;
  if (std::uncaught_exceptions() > 0 || has_thrown_) return;
  thrown_ = std::make_exception_ptr(Error("it dropped an operation in flight"));
  has_thrown_.store(true, std::memory_order_release);
}

// Sends a text to a rank, and returns when it has left or patience is at an end. The tag of a
// notice is the rank that failed, and its text the reason; two more tags ask what a rank is doing,
// and answer.
void MpiTransport::tell(int to, int tag, const std::string& text) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, tag, channels_.failures,
                &request) != MPI_SUCCESS)
    return;
  const auto until = std::chrono::steady_clock::now() + patience;
  for (int left = 0; left == 0 && std::chrono::steady_clock::now() < until;)
    if (MPI_Test(&request, &left, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
}

// Marks the job as failed on this rank; the first reason counts. Rank 0 tells all others.
void MpiTransport::end(int failed, const std::string& why) {
  if (aborted_) return;
  if (facts_.rank == 0 && !abandoned_)
    for (int peer = 1; peer < facts_.size; ++peer) tell(peer, failed, why);
  failure_ = {failed, why};
  aborted_.store(true, std::memory_order_release);
}

void MpiTransport::listen() {
  int there = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, channels_.failures, &there, &status) != MPI_SUCCESS ||
      there == 0)
    return;
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::string text(static_cast<std::size_t>(bytes), ' ');
  MPI_Recv(text.data(), bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, channels_.failures,
           MPI_STATUS_IGNORE);
  if (status.MPI_TAG == question_tag())
    tell(status.MPI_SOURCE, answer_tag(), activity_.text());
  else if (status.MPI_TAG == answer_tag())
    states_[status.MPI_SOURCE] = text;
  else
    end(status.MPI_TAG, text);
}

// The peer's thread answers even while its rank is busy.
std::string MpiTransport::of(int peer) {
  {
    const Lock lock(mutex_);
    states_.erase(peer);
    tell(peer, question_tag(), "");
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < until && !aborted_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Lock lock(mutex_);
    if (const auto found = states_.find(peer); found != states_.end()) return found->second;
  }
  return "does not answer";
}

// ---- the thread

bool MpiTransport::rank_polls() const {
  return now_ns() - last_poll_.load(std::memory_order_relaxed) < poll_ns;
}

void MpiTransport::serve_operations() {
  if (has_thrown_ || rank_polls()) return;
  serving_ = true;
  try {
    operations_->advance();
  } catch (...) {
    thrown_ = std::current_exception();
    has_thrown_.store(true, std::memory_order_release);
  }
  serving_ = false;
}

void MpiTransport::listen_and_serve() {
  const auto longest = !several_nodes() ? busy_pause : longest_network_pause;
  auto pause = busy_pause;
  std::int64_t listened = 0;  // nanoseconds
  while (!stop_) {
    bool busy = false;
    if (mutex_.try_lock()) {
      const std::lock_guard lock(mutex_, std::adopt_lock);
      const std::int64_t completed = requests_.completed();
      if (aborted_ || abandoned_) return;
      // Every call of MPI looks at all sockets, so notices are looked for once in a millisecond.
      if (const std::int64_t now = now_ns(); now - listened >= idle_pause.count()) {
        listened = now;
        listen();
      }
      busy = operations_->any();
      if (busy) serve_operations();
      const std::int64_t pieces = requests_.completed() - completed;
      if (!busy || pieces >= many_pieces)
        pause = std::max(pause / 2, busy_pause);
      else if (pieces == 0)
        pause = std::min(pause * 2, longest);
    }
    std::this_thread::sleep_for(busy ? pause : idle_pause);
  }
}

}  // namespace tutti
