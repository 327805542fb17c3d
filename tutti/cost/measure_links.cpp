// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/measure_links.h"

#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/collectives/run_schedule.h"
#include "tutti/core/clock.h"
#include "tutti/core/tensor.h"
#include "tutti/cost/collective_times.h"

#include <algorithm>

namespace tutti {
namespace {

using collectives::Phases;

constexpr int rounds_of_links = 9, most_messages = 20000;
constexpr int steps = 2;  // of one operation
// After a message that takes so long, longer ones are not measured: they tell nothing new.
constexpr double long_seconds = 0.25;
constexpr double handled_seconds = 0.02;  // of the message during which handling is measured
// The median, as collectives too will run beside other programs that come and go.
double median_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

Buffer zeros(std::int64_t count) {
  Buffer data(count * bytes_of(DType::f32));
  std::fill_n(data.data(), data.bytes(), std::byte{0});
  return data;
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
      const double message = message_seconds(count);
      samples.push_back({bytes, message, add_seconds(count)});
      if (decided(message > long_seconds ? 1 : 0) == 1) break;
    }
    return samples;
  }

  // Seconds by which a byte sent or received lengthens computing: times work within the nearest
  // cache, alone and while messages pass.
  double handling_seconds_per_byte(const std::vector<LinkSample>& samples) {
    constexpr std::int64_t nearest = 1024;
    const auto enough = std::find_if(samples.begin(), samples.end(), [](const LinkSample& sample) {
      return sample.message_seconds > handled_seconds;
    });
    const LinkSample& sample = enough == samples.end() ? samples.back() : *enough;
    const auto count =
        static_cast<std::int64_t>(decided(static_cast<int>(sample.bytes))) / bytes_of(DType::f32);
    const Buffer data = zeros(2 * count), numbers = zeros(2 * nearest);
    auto* const sums = reinterpret_cast<float*>(numbers.data());
    const auto operation = exchange_of(count);
    int repeats = 10000;
    // One loop for both, since the same loop compiled twice may take different times.
    const auto work_seconds = [&](bool messages_pass) {
      meet();
      if (messages_pass) operation->start(data.data());
      const double began = steady_seconds();
      for (int k = 0; k < repeats; ++k) collectives::accumulate(sums, sums + nearest, nearest);
      const double seconds = steady_seconds() - began;
      if (messages_pass) wait(*operation, comm_);
      return seconds;
    };
    // Repeats the work for longer than the messages take, so that all of them pass meanwhile.
    for (int k = 0; k < 2; ++k)
      repeats = decided(static_cast<int>(2.0 * steps * sample.message_seconds /
                                         work_seconds(false) * static_cast<double>(repeats)));
    // Each time is compared with the two around it, as the machine's speed comes and goes.
    std::vector<double> longer;
    double before = work_seconds(false);
    for (int round = 0; round < 2 * rounds_of_links; ++round) {
      const double beside = work_seconds(true), after = work_seconds(false);
      longer.push_back(beside - (before + after) / 2);
      before = after;
    }
    return std::max(0.0, median_of(longer)) /
           static_cast<double>(2 * steps * count * bytes_of(DType::f32));
  }

 private:
  int tag(const char* what) { return comm_.tags().of({.group = "measured pair", .what = what}); }

  // Both ranks send and receive so many elements, some times over. What is sent was received just
  // before: as in a collective, it lies changed in the cache of the rank that sends it.
  std::unique_ptr<Operation> exchange_of(std::int64_t count) {
    Phases list;
    for (int k = 0; k < steps; ++k, list.next()) {
      const Part halves[] = {{0, count}, {count, 2 * count}};
      list.receive(peer_, halves[(k + 1) % 2]);
      list.send(peer_, halves[k % 2]);
    }
    return collectives::run_schedule(comm_, list.actions,
                                     {.count = 2 * count, .tag = tag("messages")}, 2 * count);
  }

  double message_seconds(std::int64_t count) {
    const Buffer data = zeros(2 * count);
    const auto operation = exchange_of(count);
    const auto time = [&](int repeats) {
      const double began = steady_seconds();
      for (int k = 0; k < repeats; ++k) {
        operation->start(data.data());
        wait(*operation, comm_);
      }
      return (steady_seconds() - began) / repeats;
    };
    time(2);
    const int repeats =
        decided(std::clamp(static_cast<int>(options_.round_seconds / time(2)), 1, most_messages));
    std::vector<double> seconds;
    for (int round = 0; round < rounds_of_links; ++round) seconds.push_back(time(repeats) / steps);
    return median_of(seconds);
  }

  // Both ranks add at the same time, as in a collective.
  double add_seconds(std::int64_t count) const {
    const Buffer data = zeros(2 * count);
    auto* const sums = reinterpret_cast<float*>(data.data());
    std::vector<double> seconds;
    for (int round = 0; round < rounds_of_links; ++round) {
      int repeats = 0;
      const double began = steady_seconds();
      double now = began;
      for (; now - began < options_.round_seconds / 4; ++repeats, now = steady_seconds())
        collectives::accumulate(sums, sums + count, count);
      seconds.push_back((now - began) / repeats);
    }
    return median_of(seconds);
  }

  // Rank 0's number, on both ranks.
  int decided(int number) {
    Request request = comm_.rank() == 0
                          ? comm_.send(&number, sizeof(number), peer_, tag("decisions"))
                          : comm_.receive(&number, sizeof(number), peer_, tag("decisions"));
    wait(request, comm_);
    return number;
  }

  // Neither rank goes on before the other has come.
  void meet() {
    const int there = 1;
    int here = 0;
    Request in = comm_.receive(&here, sizeof(here), peer_, tag("meetings"));
    Request out = comm_.send(&there, sizeof(there), peer_, tag("meetings"));
    wait(in, comm_);
    wait(out, comm_);
  }

  Communicator& comm_;
  const int peer_;
  const LinkOptions options_;
};

// Calls f(pair) on rank 0 and `peer`, while the others wait.
template <class F>
void between(Communicator& communicator, int peer, const LinkOptions& options, const F& f) {
  if (communicator.rank() == 0 || communicator.rank() == peer) {
    Pair pair(communicator, peer, options);
    f(pair);
  }
  communicator.barrier();
}

// Samples of an allreduce through memory that both ranks see.
std::vector<LinkSample> measure_allreduce(Communicator& communicator, const char* name,
                                          const LinkOptions& options) {
  const CollectiveKind kind = collective_kinds().find("allreduce");
  std::vector<LinkSample> samples;
  if (!kind.list.find(name).supports(communicator.facts())) return samples;
  time_collectives(
      communicator, kind,
      {.algorithms = {name},
       .most_bytes = static_cast<std::int64_t>(options.most_bytes),
       .factor = 2,
       .rounds = rounds_of_links,
       .round_seconds = options.round_seconds},
      [&](const std::vector<CollectiveTime>& times) {
        samples.push_back({static_cast<double>(times[0].bytes), median_of(times[0].seconds), 0});
      });
  return samples;
}

}  // namespace

MeasuredLinks measure_links(Communicator& communicator, const LinkOptions& options) {
  const int node_ranks = communicator.network().node_ranks;
  MeasuredLinks links;
  // These are measured first: after the long messages of pairs the same sums take three times as
  // long.
  if (node_ranks == 2 && communicator.size() == 2) {
    links.direct = measure_allreduce(communicator, "direct", options);
    links.staged = measure_allreduce(communicator, "staged", options);
  }
  if (node_ranks > 1)
    between(communicator, 1, options, [&](Pair& pair) { links.within = pair.measure(); });
  if (node_ranks < communicator.size())
    between(communicator, node_ranks, options, [&](Pair& pair) {
      links.across = pair.measure();
      links.handling_seconds_per_byte = pair.handling_seconds_per_byte(links.across);
    });
  return links;
}

}  // namespace tutti
