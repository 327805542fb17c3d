// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/sim.h"

#include "tutti/comm/run_rank.h"
#include "tutti/core/cores.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace tutti::sim {
namespace {

// States of a Request.
enum { complete, under_way, at_barrier };

class SimulatedActivities final : public Activities {
 public:
  SimulatedActivities(World& world, int rank) : world_(world), rank_(rank) {}
  Activity& own() override { return world_.activities[static_cast<std::size_t>(rank_)]; }
  std::string of(int peer) override {
    return world_.activities[static_cast<std::size_t>(peer)].text();
  }

 private:
  World& world_;
  const int rank_;
};

class VirtualClock final : public RankClock {
 public:
  VirtualClock(World& world, int rank) : world_(world), rank_(rank) {}
  // The operations that spend() advances.
  void serve(Operations& operations) { operations_ = &operations; }

  double seconds() const override { return world_.now(); }

  // Meanwhile operations go on when their messages arrive.
  void spend(double seconds) override {
    double until = world_.begin_computing(rank_, seconds);
    do {
      while (world_.now() < until) {
        world_.sleep(rank_, until);
        world_.check_aborted();
        operations_->advance();
      }
      until = world_.now() + world_.end_computing(rank_);
    } while (world_.now() < until);
  }

  Request charge_additions(std::int64_t bytes) override {
    if (bytes == 0) return {};
    const double until = world_.add(rank_, static_cast<double>(bytes));
    if (until == world_.now()) return {};
    return {.handle = world_.remind(rank_, until), .data = nullptr, .state = under_way};
  }

  bool give_way() override {
    world_.sleep(rank_, never);
    return true;
  }

 private:
  World& world_;
  const int rank_;
  Operations* operations_ = nullptr;
};

class SimulatedTransport final : public Transport {
 public:
  SimulatedTransport(World& world, int rank)
      : world_(world), rank_(rank), activities_(world, rank), clock_(world, rank) {
    facts_.rank = rank;
    facts_.size = facts_.core_sharers = world.ranks();
    facts_.endpoints = world.ends() - world.ranks();
    facts_.network = world.machine().network;
  }

  const TransportFacts& facts() const override { return facts_; }
  void serve(Operations& operations) override { clock_.serve(operations); }
  RankClock& clock() override { return clock_; }
  Activities& activities() override { return activities_; }

  Request send(const void* data, std::int64_t bytes, int to, int tag, int urgency) override {
    require_peer("send to", to);
    return request({.from = rank_,
                    .to = to,
                    .tag = tag,
                    .bytes = bytes,
                    .urgency = urgency,
                    .source = or_any(data)});
  }
  Request receive(void* data, std::int64_t bytes, int from, int tag) override {
    require_peer("receive from", from);
    return request({.from = from, .to = rank_, .tag = tag, .bytes = bytes, .target = data});
  }
  std::optional<Waiting> probe(int tag) override {
    const Letter* found = world_.waiting(rank_, tag);
    return found == nullptr ? std::nullopt : std::optional(Waiting{found->from, found->bytes});
  }
  bool test(Request& request) override {
    if (request.state == at_barrier && world_.barriers > request.number) request.state = complete;
    if (request.state != under_way) return request.state == complete;
    auto* letter = static_cast<Letter*>(request.handle);
    if (!letter->arrived) return false;
    world_.forget(letter);
    request.state = complete;
    return true;
  }
  Request arrive() override {
    return {.handle = nullptr, .data = nullptr, .number = world_.arrive(), .state = at_barrier};
  }

  void abort(const std::string& why) override { world_.abort(rank_, why); }
  void check_aborted() const override { world_.check_aborted(); }
  void abandon() noexcept override {
    world_.close(rank_);
    if (std::uncaught_exceptions() == 0) world_.abort(rank_, "it dropped an operation in flight");
  }

 private:
  // A Letter with a source is a sender's, so a send without data has a source too.
  static const void* or_any(const void* data) {
    static const char nothing = 0;
    return data != nullptr ? data : &nothing;
  }

  Request request(const Letter& end) {
    return {.handle = world_.offer(end), .data = nullptr, .bytes = end.bytes, .state = under_way};
  }

  void require_peer(const char* what, int peer) const {
    if (peer == rank_) throw Error("rank {} can't {} itself", rank_, what);
    if (peer < 0 || peer >= world_.ends())
      throw Error("rank {} can't {} rank {}: the job has ranks 0 to {}", rank_, what, peer,
                  world_.ends() - 1);
  }

  World& world_;
  const int rank_;
  SimulatedActivities activities_;
  VirtualClock clock_;
  TransportFacts facts_;
};

}  // namespace

void run_simulated_ranks(int ranks, const SimulatedMachine& machine,
                         const std::function<void(Communicator&)>& body, int endpoints) {
  if (ranks < 1) throw Error("a job needs at least 1 rank, not {}", ranks);
  World world(ranks, machine, endpoints);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < world.ends(); ++rank)
      threads.emplace_back([&world, &body, rank] {
        run_on_any_core();
        Communicator communicator(std::make_unique<SimulatedTransport>(world, rank));
        world.enter(rank);
        run_rank(communicator, body);
        world.leave(rank);
      });
  }
  world.check_aborted();
}

}  // namespace tutti::sim
