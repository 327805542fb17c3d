// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/planned_rank.h"

namespace tutti::sim {
namespace {

class NoActivities final : public Activities {
 public:
  Activity& own() override { return own_; }
  std::string of(int) override { return "is planned"; }

 private:
  Activity own_;
};

class PlannedRank final : public Transport {
 public:
  explicit PlannedRank(const TransportFacts& facts) : facts_(facts) {}

  const TransportFacts& facts() const override { return facts_; }
  Request send(const void*, std::int64_t, int, int) override { refuse(); }
  Request receive(void*, std::int64_t, int, int) override { refuse(); }
  std::optional<Waiting> probe(int) override { refuse(); }
  bool test(Request&) override { return true; }
  Request arrive() override { refuse(); }
  void abort(const std::string&) override {}
  void check_aborted() const override {}
  Activities& activities() override { return activities_; }

 private:
  [[noreturn]] static void refuse() {
    throw Error("this rank is there to be planned with: it has no peers");
  }

  const TransportFacts facts_;
  NoActivities activities_;
};

}  // namespace

std::unique_ptr<Communicator> planned_rank(int rank, int ranks, const Network& network) {
  if (ranks < 1) throw Error("a job needs at least 1 rank, not {}", ranks);
  return std::make_unique<Communicator>(std::make_unique<PlannedRank>(
      TransportFacts{.rank = rank, .size = ranks, .network = network, .core_sharers = ranks}));
}

}  // namespace tutti::sim
