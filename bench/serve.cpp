// SPDX-License-Identifier: Apache-2.0
#include "bench/serve.h"

#include "tutti/comm/threads/threads.h"
#include "tutti/core/memory.h"
#include "tutti/parallel/partition.h"

#include "bench/workload.h"

#include <atomic>
#include <fstream>
#include <iostream>
#include <sstream>

namespace tutti::bench {
namespace {

// Makes the peak what is resident now.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

// The number of steps that all ranks run next. Ranks that wait for it sleep, so that the other side
// has the machine.
class Order {
 public:
  void give(int steps) {
    steps_ = steps;
    ++number_;
    number_.notify_all();
  }
  // The order after the `seen`-th; 0 ends.
  int wait(int seen) {
    number_.wait(seen);
    return steps_;
  }

 private:
  std::atomic<int> number_{0};
  int steps_ = 0;
};

class Rank {
 public:
  Rank(const WorkloadFile& file, const ReplicaOptions& options, Communicator& communicator)
      : replica_(options), rate_(file.rate()) {
    for (std::int64_t k = 0; k < file.batches(); ++k)
      batches_.push_back(file.batch(communicator.rank(), communicator.size(), k));
    file.load_weights(replica_);
  }
  void run(int steps) {
    for (int k = 0; k < steps; ++k) {
      const Batch& batch = batches_[static_cast<std::size_t>(step_) % batches_.size()];
      loss = replica_.step(batch.pointers, {.step = step_, .key = 1, .rate = rate_}).loss;
      ++step_;
    }
  }
  const Replica& replica() const { return replica_; }

  double loss = 0;

 private:
  std::vector<Batch> batches_;
  Replica replica_;
  double rate_;
  std::int64_t step_ = 0;
};

void answer_lines(Rank& rank, Order& order, std::int64_t bytes_before) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    int steps = 0;
    words >> command >> steps;
    if (command == "memory") {
      std::cout << peak_resident_bytes() - bytes_before << std::endl;
      continue;
    }
    if (command != "run" || steps < 1) throw Error("'{}': expected 'run K' or 'memory'", line);
    order.give(steps);
    const double started = now_ms();
    rank.run(steps);
    std::cout << fmt::format("{} {}", now_ms() - started, rank.loss) << std::endl;
  }
  order.give(0);
}

}  // namespace

void serve(const std::string& model, const std::string& path, int threads, int ranks, bool shard) {
  const List<Model> all_models = models();
  const List<Rule> all_rules = rules();
  const WorkloadFile file(path);
  Workload chosen;
  for (const Workload& workload : workloads())
    if (workload.name == model) chosen = workload;
  reset_peak();
  const std::int64_t bytes_before = peak_resident_bytes();
  Order order;
  run_ranks(ranks, [&](Communicator& communicator) {
    ReplicaOptions options = replica_options(chosen, all_models, all_rules, threads);
    options.communicator = &communicator;
    options.mesh = data_mesh(communicator.size());
    options.closing.scheme.store = stores().find(shard ? "sharded" : "all");
    Rank rank(file, options, communicator);
    if (communicator.rank() == 0) {
      std::cout << "ready " << rank.replica().table().parameters(true) << std::endl;
      answer_lines(rank, order, bytes_before);
    } else {
      int seen = 0;
      while (const int steps = order.wait(seen++)) rank.run(steps);
    }
  });
}

}  // namespace tutti::bench
