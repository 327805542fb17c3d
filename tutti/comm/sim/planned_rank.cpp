// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/sim/planned_rank.h"

namespace tutti::sim {
namespace {

class PlannedRank final : public Communicator {
 public:
  PlannedRank(int rank, int ranks, const Network& network)
      : rank_(rank), ranks_(ranks), network_(network) {}

  int rank() const override { return rank_; }
  int size() const override { return ranks_; }
  void barrier() override { refuse(); }
  void abort(const std::string&) override {}
  void check_aborted() const override {}
  std::string state_of(int) override { return "is planned"; }
  Network network() const override { return network_; }

 protected:
  Request post_send(const void*, std::int64_t, int, int) override { refuse(); }
  Request post_receive(void*, std::int64_t, int, int) override { refuse(); }
  bool test_posted(Request&) override { return true; }
  Activity& activity() override { return activity_; }

 private:
  [[noreturn]] static void refuse() {
    throw Error("this rank is there to be planned with: it has no peers");
  }

  const int rank_, ranks_;
  const Network network_;
  Activity activity_;
};

}  // namespace

std::unique_ptr<Communicator> planned_rank(int rank, int ranks, const Network& network) {
  if (ranks < 1) throw Error("a job needs at least 1 rank, not {}", ranks);
  return std::make_unique<PlannedRank>(rank, ranks, network);
}

}  // namespace tutti::sim
