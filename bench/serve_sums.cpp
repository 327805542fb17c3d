// SPDX-License-Identifier: Apache-2.0
#include "bench/serve_sums.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/collectives/run_schedule.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/core/clock.h"
#include "tutti/cost/measure_links.h"

#include <chrono>
#include <iostream>
#include <sstream>
#include <thread>
#include <vector>

namespace tutti::bench {
namespace {

struct SumOrder {
  std::int64_t count = 0, repeats = 0;  // 0: the end
};

constexpr int order_tag = 1;

void give_all(Communicator& communicator, const SumOrder& order) {
  for (int peer = 1; peer < communicator.size(); ++peer)
    for (Request request = communicator.send(&order, sizeof order, peer, order_tag);
         !communicator.test(request);)
      continue;
}

// Sleeps meanwhile, so that the other side of a comparison has the machine.
SumOrder receive(Communicator& communicator) {
  SumOrder order;
  for (Request request = communicator.receive(&order, sizeof order, 0, order_tag);
       !communicator.test(request);)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return order;
}

double run(Communicator& communicator, const List<Collective>& list, const SumOrder& order) {
  std::vector<float> data(static_cast<std::size_t>(order.count));
  const CollectiveArgs args{.count = order.count};
  const auto operation = choose(list, "auto", communicator, args).make(communicator, args);
  const auto sum = [&] {
    operation->start(data.data());
    wait(*operation, communicator);
  };
  const int ranks = communicator.size();
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i % 61) + static_cast<float>(communicator.rank());
  sum();
  for (std::size_t i = 0; i < data.size(); ++i) {
    const float expected = static_cast<float>(i % 61) * static_cast<float>(ranks) +
                           static_cast<float>(ranks * (ranks - 1)) / 2;
    if (data[i] != expected)
      throw Error("allreduce: sum {} is {}, expected {}", i, data[i], expected);
  }
  std::fill(data.begin(), data.end(), 0.0f);  // sums stay zero however often they are taken
  communicator.barrier();
  const double began = steady_seconds();
  for (std::int64_t k = 0; k < order.repeats; ++k) sum();
  return (steady_seconds() - began) / static_cast<double>(order.repeats);
}

List<Collective> candidates(bool messages) {
  std::vector<Collective> own;
  for (const Collective& one : allreduces())
    if (one.name != "mpi" && (one.schedule || !messages)) own.push_back(one);
  return {"allreduce", own};
}

}  // namespace

void serve_sums(bool messages) {
  run_mpi_rank([&](Communicator& communicator) {
    const List<Collective> list = candidates(messages);
    use_links(communicator, measure_links(communicator));
    if (communicator.rank() > 0) {
      for (SumOrder order = receive(communicator); order.repeats > 0; order = receive(communicator))
        run(communicator, list, order);
      return;
    }
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string algorithm;
      std::int64_t bytes = 0;
      SumOrder order;
      words >> algorithm >> bytes >> order.repeats;
      order.count = bytes / std::int64_t{sizeof(float)};
      give_all(communicator, order);
      std::cout << run(communicator, list, order) << std::endl;
    }
    give_all(communicator, {});
  });
}

}  // namespace tutti::bench
