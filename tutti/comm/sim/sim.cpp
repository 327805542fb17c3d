// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/sim.h"

#include "tutti/comm/run_rank.h"
#include "tutti/core/cores.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <thread>

namespace tutti::sim {
namespace {

// States of a Request.
enum { complete, under_way };

class Arrival final : public Operation {
 public:
  explicit Arrival(World& world) : world_(world), barrier_(world.barriers) {
    if (++world_.arrived < world_.ranks()) return;
    world_.arrived = 0;
    ++world_.barriers;
    world_.wake_all();
  }
  void start(void*) override {}
  bool advance() override { return world_.barriers > barrier_; }
  const char* what() const override { return "the barrier"; }

 private:
  World& world_;
  const std::uint64_t barrier_;
};

class SimulatedRank final : public Communicator {
 public:
  SimulatedRank(World& world, int rank) : world_(world), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.ranks(); }

  void barrier() override {
    Arrival arrival(world_);
    wait(arrival, *this);
  }

  void abort(const std::string& why) override { world_.abort(rank_, why); }
  void check_aborted() const override { world_.check_aborted(); }
  void abandon() noexcept override {
    world_.close(rank_);
    if (std::uncaught_exceptions() == 0) world_.abort(rank_, "it dropped an operation in flight");
  }

  std::string state_of(int peer) override {
    return world_.activities[static_cast<std::size_t>(peer)].text();
  }
  Network network() const override { return world_.machine().network; }

  bool give_way() override {
    world_.sleep(rank_, std::numeric_limits<double>::infinity());
    return true;
  }

  // Meanwhile operations go on when their messages arrive.
  void spend(double seconds) override {
    const double until = world_.now() + world_.machine().law.seconds(rank_, spent_++, seconds);
    while (world_.now() < until) {
      world_.sleep(rank_, until);
      progress();
    }
  }

  // One addition at a time.
  Request charge_additions(std::int64_t bytes) override {
    const double each = network().within.seconds_per_added_byte;
    if (bytes == 0 || each == 0) return {};
    adding_until_ = std::max(world_.now(), adding_until_) + static_cast<double>(bytes) * each;
    return {.handle = world_.remind(rank_, adding_until_),
            .data = nullptr,
            .bytes = 0,
            .state = under_way};
  }

  double seconds() const override { return world_.now(); }

 protected:
  Request post_send(const void* data, std::int64_t bytes, int to, int tag) override {
    require_peer("send to", to);
    return request({.from = rank_, .to = to, .tag = tag, .bytes = bytes, .source = or_any(data)});
  }
  Request post_receive(void* data, std::int64_t bytes, int from, int tag) override {
    require_peer("receive from", from);
    return request({.from = from, .to = rank_, .tag = tag, .bytes = bytes, .target = data});
  }
  bool test_posted(Request& request) override {
    if (request.state == complete) return true;
    auto* letter = static_cast<Letter*>(request.handle);
    if (!letter->arrived) return false;
    world_.forget(letter);
    request.state = complete;
    return true;
  }

  Activity& activity() override { return world_.activities[static_cast<std::size_t>(rank_)]; }

 private:
  // A sender is told from a receiver by its data, even when there are none.
  static const void* or_any(const void* data) {
    static const char nothing = 0;
    return data != nullptr ? data : &nothing;
  }

  Request request(const Letter& end) {
    return {.handle = world_.offer(end), .data = nullptr, .bytes = end.bytes, .state = under_way};
  }

  void require_peer(const char* what, int peer) const {
    if (peer == rank_) throw Error("rank {} can't {} itself", rank_, what);
    if (peer < 0 || peer >= size())
      throw Error("rank {} can't {} rank {}: the job has ranks 0 to {}", rank_, what, peer,
                  size() - 1);
  }

  World& world_;
  const int rank_;
  std::uint64_t spent_ = 0;  // how often
  double adding_until_ = 0;
};

}  // namespace

void run_simulated_ranks(int ranks, const SimulatedMachine& machine,
                         const std::function<void(Communicator&)>& body) {
  if (ranks < 1) throw Error("a job needs at least 1 rank, not {}", ranks);
  World world(ranks, machine);
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&world, &body, rank] {
        run_on_any_core();
        SimulatedRank communicator(world, rank);
        world.enter(rank);
        run_rank(communicator, body);
        world.leave(rank);
      });
  }
  world.check_aborted();
}

}  // namespace tutti::sim
