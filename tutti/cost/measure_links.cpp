// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/measure_links.h"

#include "tutti/comm/collectives/run_schedule.h"
#include "tutti/core/tensor.h"
#include "tutti/cost/allreduce_times.h"

#include <algorithm>
#include <chrono>

namespace tutti {
namespace {

using collectives::Actions;
using collectives::Steps;

constexpr int rounds = 5, most_repeats = 20000;
constexpr int steps = 2;               // of one operation
constexpr double long_seconds = 0.25;  // of a message after which longer ones tell nothing new
constexpr int message_tag = 1, decision_tag = 2;

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Two ranks that measure; the first of them decides.
class Pair {
 public:
  Pair(Communicator& communicator, int peer, const LinkOptions& options)
      : comm_(communicator), peer_(comm_.rank() == 0 ? peer : 0), options_(options) {}

  std::vector<LinkSample> measure() {
    std::vector<LinkSample> samples;
    for (double bytes = 4; bytes <= options_.most_bytes; bytes *= 2) {
      const auto count = static_cast<std::int64_t>(bytes) / bytes_of(DType::f32);
      const double message = step_seconds(count, false), with_sum = step_seconds(count, true);
      samples.push_back({bytes, message, std::max(0.0, with_sum - message)});
      if (decided(message > long_seconds ? 1 : 0) == 1) break;
    }
    return samples;
  }

 private:
  double step_seconds(std::int64_t count, bool add) {
    Steps list;
    for (int k = 0; k < steps; ++k, list.next()) {
      if (add)
        list.receive_add(peer_, {0, count});
      else
        list.receive(peer_, {count, 2 * count});
      list.send(peer_, {0, count});
    }
    const Buffer data(2 * count * bytes_of(DType::f32));
    std::fill_n(data.data(), data.bytes(), std::byte{0});
    const auto operation = collectives::run_schedule(
        comm_, list.actions, {.count = 2 * count, .tag = message_tag}, 2 * count);
    const auto time = [&](int repeats) {
      const double began = now_seconds();
      for (int k = 0; k < repeats; ++k) {
        operation->start(data.data());
        wait(*operation, comm_);
      }
      return (now_seconds() - began) / repeats;
    };
    time(2);
    const int repeats =
        decided(std::clamp(static_cast<int>(options_.round_seconds / time(2)), 1, most_repeats));
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) seconds.push_back(time(repeats) / steps);
    return median_of(std::move(seconds));
  }

  // Rank 0's number on both.
  int decided(int number) {
    Request request = comm_.rank() == 0
                          ? comm_.send(&number, sizeof(number), peer_, decision_tag)
                          : comm_.receive(&number, sizeof(number), peer_, decision_tag);
    wait(request, comm_);
    return number;
  }

  Communicator& comm_;
  const int peer_;
  const LinkOptions options_;
};

std::vector<LinkSample> measure_pair(Communicator& communicator, int peer,
                                     const LinkOptions& options) {
  std::vector<LinkSample> samples;
  if (communicator.rank() == 0 || communicator.rank() == peer)
    samples = Pair(communicator, peer, options).measure();
  communicator.barrier();
  return samples;
}

// The allreduce through memory that both ranks see.
std::vector<LinkSample> measure_shared(Communicator& communicator, const LinkOptions& options) {
  const List<Collective> all = allreduces();
  const char* const name = all.find("direct").supports(communicator) ? "direct" : "staged";
  std::vector<LinkSample> samples;
  if (!all.find(name).supports(communicator)) return samples;
  time_allreduces(
      communicator, all,
      {.algorithms = {name},
       .most_bytes = static_cast<std::int64_t>(options.most_bytes),
       .factor = 2,
       .rounds = rounds,
       .round_seconds = options.round_seconds},
      [&](const std::vector<AllreduceTime>& times) {
        samples.push_back({static_cast<double>(times[0].bytes), median_of(times[0].seconds), 0});
      });
  return samples;
}

}  // namespace

MeasuredLinks measure_links(Communicator& communicator, const LinkOptions& options) {
  const int node_ranks = communicator.network().node_ranks;
  MeasuredLinks links;
  if (node_ranks > 1) links.within = measure_pair(communicator, 1, options);
  if (node_ranks < communicator.size())
    links.across = measure_pair(communicator, node_ranks, options);
  if (node_ranks == 2 && communicator.size() == 2)
    links.shared = measure_shared(communicator, options);
  return links;
}

}  // namespace tutti
