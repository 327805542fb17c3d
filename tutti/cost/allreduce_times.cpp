// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/allreduce_times.h"

#include "tutti/comm/collectives/algorithms.h"
#include "tutti/core/clock.h"
#include "tutti/core/tensor.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr int most_repeats = 20000;

// One rank's part of the measurements at one size.
class Meter {
 public:
  Meter(Communicator& communicator, const List<Collective>& list, const AllreduceSweep& sweep,
        std::int64_t bytes)
      : comm_(communicator),
        sweep_(sweep),
        count_(std::max<std::int64_t>(1, bytes / bytes_of(sweep.dtype))),
        data_(count_ * bytes_of(sweep.dtype)) {
    for (const std::string& name : names(list)) {
      const CollectiveArgs args{
          .dtype = sweep.dtype, .count = count_, .tag = static_cast<int>(operations_.size())};
      const Collective algorithm = choose(list, name, comm_, args);
      operations_.push_back(algorithm.make(comm_, args));
      times_.push_back({.algorithm = name,
                        .chosen = algorithm.name,
                        .ranks = comm_.size(),
                        .bytes = data_.bytes(),
                        .elements = count_,
                        .dtype = sweep_.dtype,
                        .predicted_seconds = algorithm.seconds(comm_.network(), comm_.size(),
                                                               data_.bytes(), false)});
    }
  }

  std::vector<AllreduceTime> run() {
    std::vector<int> repeats;
    for (std::size_t k = 0; k < operations_.size(); ++k) {
      check_sums(k);
      clear();
      time(k, 2);
      const double seconds = time(k, 3) / 3;
      repeats.push_back(
          agreed(std::clamp(static_cast<int>(sweep_.round_seconds / seconds), 1, most_repeats)));
    }
    for (int round = 0; round < sweep_.rounds; ++round)
      for (std::size_t n = 0; n < operations_.size(); ++n) {
        const std::size_t k = round % 2 == 0 ? n : operations_.size() - 1 - n;
        times_[k].seconds.push_back(time(k, repeats[k]) / repeats[k]);
      }
    for (std::size_t k = 0; k < operations_.size(); ++k) check_sums(k);
    return times_;
  }

 private:
  std::vector<std::string> names(const List<Collective>& list) const {
    if (!sweep_.algorithms.empty()) return sweep_.algorithms;
    std::vector<std::string> those;
    for (const Collective& one : list)
      if (one.supports(comm_)) those.push_back(one.name);
    those.emplace_back("auto");
    return those;
  }

  void once(std::size_t k) {
    operations_[k]->start(data_.data());
    wait(*operations_[k], comm_);
  }

  double time(std::size_t k, int repeats) {
    comm_.barrier();
    once(k);  // what the others have left in the caches is gone
    const double began = steady_seconds();
    for (int i = 0; i < repeats; ++i) once(k);
    return steady_seconds() - began;
  }

  // Small whole numbers: their sum is exact in any order. bf16 counts up to 256.
  double value_at(int rank, std::int64_t i) const {
    const bool coarse = sweep_.dtype == DType::bf16;
    if (coarse && rank >= 256) return 0;
    const int most = coarse ? std::clamp(256 / comm_.size(), 1, 61) : 61;
    return static_cast<double>((i * 7 + rank) % most + 1);
  }

  // Zeros stay zeros however often they are summed.
  void clear() { std::fill_n(data_.data(), data_.bytes(), std::byte{0}); }

  void check_sums(std::size_t k) {
    dispatch_real(sweep_.dtype, [&]<class T>(T) {
      T* const data = reinterpret_cast<T*>(data_.data());
      for (std::int64_t i = 0; i < count_; ++i) data[i] = static_cast<T>(value_at(comm_.rank(), i));
      once(k);
      for (std::int64_t i = 0; i < count_; ++i) {
        double expected = 0;
        for (int rank = 0; rank < comm_.size(); ++rank) expected += value_at(rank, i);
        if (static_cast<double>(data[i]) != expected)
          throw Error("allreduce {} of {} elements: sum {} is {}, expected {}", times_[k].algorithm,
                      count_, i, static_cast<double>(data[i]), expected);
      }
    });
  }

  // Rank 0's number.
  int agreed(int number) {
    const CollectiveArgs args{
        .dtype = DType::i32, .count = 1, .tag = static_cast<int>(operations_.size())};
    const auto operation = choose(broadcasts(), "auto", comm_, args).make(comm_, args);
    operation->start(&number);
    wait(*operation, comm_);
    return number;
  }

  Communicator& comm_;
  const AllreduceSweep& sweep_;
  const std::int64_t count_;
  Buffer data_;
  std::vector<AllreduceTime> times_;
  std::vector<std::unique_ptr<Operation>> operations_;
};

}  // namespace

List<Collective> measurable_allreduces(Communicator& communicator) {
  List<Collective> all = allreduces();
  if (communicator.has_own_allreduce()) all.add(collectives::own_allreduce(true));
  return all;
}

void time_allreduces(Communicator& communicator, const List<Collective>& list,
                     const AllreduceSweep& sweep,
                     const std::function<void(const std::vector<AllreduceTime>&)>& report) {
  for (std::int64_t bytes = sweep.least_bytes; bytes <= sweep.most_bytes; bytes *= sweep.factor) {
    const std::vector<AllreduceTime> times = Meter(communicator, list, sweep, bytes).run();
    if (communicator.rank() == 0) report(times);
  }
}

double bus_bytes_per_second(const AllreduceTime& time, double seconds) {
  return 2.0 * (time.ranks - 1) / time.ranks * static_cast<double>(time.bytes) / seconds;
}

double median_of(std::vector<double> values) {
  check(!values.empty(), "a median needs values");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace tutti
