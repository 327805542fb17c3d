// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/threads/threads.h"

#include "tutti/comm/threads/hub.h"

#include <cstring>
#include <exception>
#include <unordered_map>

namespace tutti {
namespace {

// States of a Request.
enum { complete, waiting_for_slot, posted, receiving, at_barrier };

class ThreadActivities final : public Activities {
 public:
  ThreadActivities(Hub& hub, int rank) : hub_(hub), rank_(rank) {}
  Activity& own() override { return hub_.activities[static_cast<std::size_t>(rank_)]; }
  std::string of(int peer) override {
    return hub_.activities[static_cast<std::size_t>(peer)].text();
  }

 private:
  Hub& hub_;
  const int rank_;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Hub> hub, int rank)
      : hub_(std::move(hub)), rank_(rank), activities_(*hub_, rank) {
    facts_ = thread_facts(rank, hub_->ranks());
    facts_.endpoints = hub_->ends() - hub_->ranks();
  }

  const TransportFacts& facts() const override { return facts_; }

  Request arrive() override {
    return {.handle = nullptr, .data = nullptr, .number = hub_->arrive(), .state = at_barrier};
  }

  void abort(const std::string& why) override {
    hub_->abort(rank_, why);
    hub_->memory.close(rank_);
  }
  void check_aborted() const override { hub_->check_aborted(); }

  void abandon() noexcept override {
    hub_->memory.close(rank_);
    // An error that unwinds will abort the job with its reason; without one, the peers would wait
    // for ever.
    if (std::uncaught_exceptions() == 0) hub_->abort(rank_, "it dropped an operation in flight");
  }

  SharedMemory* shared() override { return &hub_->memory; }
  std::byte* window(int rank) override { return reinterpret_cast<std::byte*>(&hub_->window(rank)); }
  Activities& activities() override { return activities_; }

  Request send(const void* data, std::int64_t bytes, int to, int tag, int) override {
    require_peer("send to", to);
    End& end = end_of(outgoing_, to, tag);
    Request request{end.channel, const_cast<void*>(data), bytes, end.next++, waiting_for_slot};
    post(request);
    return request;
  }

  Request receive(void* data, std::int64_t bytes, int from, int tag) override {
    require_peer("receive from", from);
    End& end = end_of(incoming_, from, tag);
    return {end.channel, data, bytes, end.next++, receiving};
  }

  // Looks at peers in turn, beginning behind the one that was found last.
  std::optional<Waiting> probe(int tag) override {
    const int ends = hub_->ends();
    for (int k = 1; k <= ends; ++k) {
      const int from = (found_ + k) % ends;
      if (from == rank_) continue;
      const End& end = end_of(incoming_, from, tag);
      if (!end.channel->posted(end.next)) continue;
      found_ = from;
      return Waiting{from, end.channel->slot(end.next).bytes};
    }
    return std::nullopt;
  }

  bool test(Request& request) override {
    if (request.state == waiting_for_slot) post(request);
    const bool done = request.state == complete ||
                      (request.state == posted && channel_of(request).taken(request.number)) ||
                      (request.state == receiving && copy(request)) ||
                      (request.state == at_barrier && hub_->passed(request.number));
    if (done) request.state = complete;
    return done;
  }

 private:
  // This rank's end of a channel.
  struct End {
    Channel* channel = nullptr;
    std::uint64_t next = 0;  // number of the next message
  };
  using Ends = std::unordered_map<std::uint64_t, End>;

  End& end_of(Ends& ends, int peer, int tag) {
    const auto key = static_cast<std::uint64_t>(peer) << 32 | static_cast<std::uint32_t>(tag);
    End& end = ends[key];
    if (!end.channel)
      end.channel =
          &ends == &outgoing_ ? &hub_->channel(rank_, peer, tag) : &hub_->channel(peer, rank_, tag);
    return end;
  }

  static Channel& channel_of(const Request& request) {
    return *static_cast<Channel*>(request.handle);
  }

  static void post(Request& request) {
    if (channel_of(request).post(request.number, request.data, request.bytes))
      request.state = posted;
  }

  // Copies the message from its sender's memory if it is there.
  bool copy(const Request& request) {
    Channel& channel = channel_of(request);
    if (!channel.posted(request.number)) return false;
    const Channel::Slot& slot = channel.slot(request.number);
    if (slot.bytes != request.bytes)
      throw Error("rank {} sends {} bytes with tag {} to rank {}, which expects {} bytes",
                  channel.from, slot.bytes, channel.tag, channel.to, request.bytes);
    if (!hub_->memory.enter(rank_)) return false;
    if (request.bytes > 0)
      std::memcpy(request.data, slot.data, static_cast<std::size_t>(request.bytes));
    hub_->memory.leave(rank_);
    channel.take(request.number);
    return true;
  }

  void require_peer(const char* what, int peer) const {
    if (peer == rank_) throw Error("rank {} can't {} itself", rank_, what);
    if (peer < 0 || peer >= hub_->ends())
      throw Error("rank {} can't {} rank {}: the job has ranks 0 to {}", rank_, what, peer,
                  hub_->ends() - 1);
  }

  std::shared_ptr<Hub> hub_;
  const int rank_;
  ThreadActivities activities_;
  TransportFacts facts_;
  Ends outgoing_, incoming_;
  int found_ = 0;  // the sender that probe() named last
};

}  // namespace

TransportFacts thread_facts(int rank, int ranks) {
  TransportFacts facts{.rank = rank, .size = ranks};
  facts.core_sharers = facts.network.node_ranks = ranks;
  facts.shared_memory = facts.windows = true;
  return facts;
}

std::vector<std::unique_ptr<Communicator>> thread_communicators(int ranks, int endpoints) {
  if (ranks < 1) throw Error("a job needs at least 1 rank, not {}", ranks);
  const auto hub = std::make_shared<Hub>(ranks, endpoints);
  std::vector<std::unique_ptr<Communicator>> all;
  for (int end = 0; end < hub->ends(); ++end)
    all.push_back(std::make_unique<Communicator>(std::make_unique<ThreadTransport>(hub, end)));
  return all;
}

}  // namespace tutti
