// SPDX-License-Identifier: Apache-2.0
// gloo's allreduce of two ranks, which are threads as in its own tests: answers "ALGORITHM BYTES
// REPEATS" on its input with the seconds of one. gloo has no shared-memory transport: they talk
// over TCP.
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int ranks = 2;

struct Order {
  std::string algorithm;
  std::size_t count = 0;
  int repeats = 0;  // 0: the end
};
Order order;
std::atomic<int> orders{0};

// What sums `data` over the ranks, in place.
std::function<void()> sum_by(const std::string& algorithm,
                             const std::shared_ptr<gloo::Context>& context,
                             std::vector<float>& data) {
  const std::vector<float*> pointers = {data.data()};
  const int count = static_cast<int>(data.size());
  if (algorithm == "halving-doubling") {
    const auto sum =
        std::make_shared<gloo::AllreduceHalvingDoubling<float>>(context, pointers, count);
    return [sum] { sum->run(); };
  }
  if (algorithm == "chunked-ring") {
    const auto sum = std::make_shared<gloo::AllreduceRingChunked<float>>(context, pointers, count);
    return [sum] { sum->run(); };
  }
  return [&, bcube = algorithm == "bcube"] {
    gloo::AllreduceOptions options(context);
    options.setAlgorithm(bcube ? gloo::AllreduceOptions::Algorithm::BCUBE
                               : gloo::AllreduceOptions::Algorithm::RING);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    options.setOutput(data.data(), data.size());
    gloo::allreduce(options);
  };
}

double run(const std::shared_ptr<gloo::Context>& context) {
  const Order own = order;  // the next may come before all ranks are done
  std::vector<float> data(own.count);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(i % 61) + static_cast<float>(context->rank);
  const std::function<void()> sum = sum_by(own.algorithm, context, data);
  sum();
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != 2 * static_cast<float>(i % 61) + 1) {
      std::cerr << "gloo: sum " << i << " is " << data[i] << "\n";
      std::_Exit(1);
    }
  std::fill(data.begin(), data.end(), 0.0f);  // sums stay zero however often they are taken
  const auto began = std::chrono::steady_clock::now();
  for (int k = 0; k < own.repeats; ++k) sum();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() /
         own.repeats;
}

std::shared_ptr<gloo::Context> connect(gloo::rendezvous::HashStore& store, int rank) {
  gloo::transport::tcp::attr address;
  address.hostname = "127.0.0.1";
  auto device = gloo::transport::tcp::CreateDevice(address);
  auto context = std::make_shared<gloo::rendezvous::Context>(rank, ranks);
  context->connectFullMesh(store, device);
  return context;
}

void give_order(const Order& next) {
  order = next;
  ++orders;
  orders.notify_all();
}

}  // namespace

int main() {
  gloo::rendezvous::HashStore store;
  std::thread other([&] {
    const auto context = connect(store, 1);
    for (int seen = 0;; ++seen) {
      orders.wait(seen);
      if (order.repeats == 0) return;
      run(context);
    }
  });
  const auto context = connect(store, 0);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    Order next;
    std::size_t bytes = 0;
    words >> next.algorithm >> bytes >> next.repeats;
    next.count = bytes / sizeof(float);
    give_order(next);
    std::cout << run(context) << std::endl;
  }
  give_order({});
  other.join();
}
