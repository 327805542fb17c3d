// SPDX-License-Identifier: Apache-2.0
#include "tutti/cost/collective_times.h"

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
  Meter(Communicator& communicator, const CollectiveKind& kind, const CollectiveSweep& sweep,
        std::int64_t bytes)
      : comm_(communicator),
        kind_(kind),
        sweep_(sweep),
        problem_{comm_.size(), count_of(bytes), sweep.dtype},
        bytes_(problem_.count * bytes_of(sweep.dtype)),
        elements_(kind.elements == nullptr ? problem_.count
                                           : kind.elements(problem_, comm_.rank())),
        data_(elements_ * bytes_of(sweep.dtype)) {
    const double bound = collectives::lower_bounds(kind.least(comm_.size()), comm_.network(),
                                                   comm_.size(), static_cast<double>(bytes_))
                             .seconds;
    for (const std::string& name : names()) {
      const CollectiveArgs args{
          .dtype = sweep.dtype,
          .count = problem_.count,
          .tag = comm_.tags().of(
              {.what = fmt::format("measured {} {}", kind_.name, operations_.size())})};
      const Collective algorithm = choose(kind.list, name, comm_, args);
      operations_.push_back(algorithm.make(comm_, args));
      times_.push_back(
          {.algorithm = name,
           .chosen = algorithm.name,
           .ranks = comm_.size(),
           .bytes = bytes_,
           .elements = problem_.count,
           .dtype = sweep_.dtype,
           .predicted_seconds = algorithm.seconds(comm_.network(), comm_.size(), bytes_, false),
           .bound_seconds = algorithm.schedule ? std::optional(bound) : std::nullopt});
    }
  }

  std::vector<CollectiveTime> run() {
    std::vector<int> repeats;
    for (std::size_t k = 0; k < operations_.size(); ++k) {
      check_results(k);
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
    for (std::size_t k = 0; k < operations_.size(); ++k) check_results(k);
    return times_;
  }

 private:
  // Elements of a vector of about so many bytes. Equal blocks hold whole floats even in bf16, since
  // prices count floats.
  std::int64_t count_of(std::int64_t bytes) const {
    const std::int64_t count = std::max<std::int64_t>(1, bytes / bytes_of(sweep_.dtype));
    const std::int64_t of = kind_.equal_blocks ? 2 * comm_.size() : 1;
    return (count + of - 1) / of * of;
  }

  std::vector<std::string> names() const {
    if (!sweep_.algorithms.empty()) return sweep_.algorithms;
    std::vector<std::string> those;
    for (const Collective& one : kind_.list)
      if (one.supports(comm_.facts())) those.push_back(one.name);
    those.emplace_back("auto");
    return those;
  }

  void once(std::size_t k) {
    operations_[k]->start(data_.data());
    wait(*operations_[k], comm_);
  }

  double time(std::size_t k, int repeats) {
    comm_.barrier();
    once(k);  // replaces what the other algorithms have left in the caches
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

  void check_results(std::size_t k) {
    const CollectiveKind::Given given = [&](int rank, std::int64_t i) { return value_at(rank, i); };
    dispatch_real(sweep_.dtype, [&]<class T>(T) {
      T* const data = reinterpret_cast<T*>(data_.data());
      for (std::int64_t i = 0; i < elements_; ++i)
        data[i] = static_cast<T>(value_at(comm_.rank(), i));
      once(k);
      for (std::int64_t i = 0; i < elements_; ++i) {
        const auto expected = kind_.result(problem_, comm_.rank(), i, given);
        if (expected && static_cast<double>(data[i]) != *expected)
          throw Error("{} {} of {} elements: element {} is {}, expected {}", kind_.name,
                      times_[k].algorithm, problem_.count, i, static_cast<double>(data[i]),
                      *expected);
      }
    });
  }

  // Rank 0's number, on all ranks.
  int agreed(int number) {
    const CollectiveArgs args{
        .dtype = DType::i32,
        .count = 1,
        .tag = comm_.tags().of(
            {.what = fmt::format("measured {} {}", kind_.name, operations_.size())})};
    const auto operation = choose(broadcasts(), "auto", comm_, args).make(comm_, args);
    operation->start(&number);
    wait(*operation, comm_);
    return number;
  }

  Communicator& comm_;
  const CollectiveKind& kind_;
  const CollectiveSweep& sweep_;
  const collectives::Problem problem_;
  const std::int64_t bytes_;     // of the problem
  const std::int64_t elements_;  // of this rank's memory
  Buffer data_;
  std::vector<CollectiveTime> times_;
  std::vector<std::unique_ptr<Operation>> operations_;
};

}  // namespace

CollectiveKind measurable_kind(const std::string& name, Communicator& communicator) {
  CollectiveKind kind = collective_kinds().find(name);
  if (name == "allreduce" && communicator.facts().own_allreduce)
    kind.list.add(collectives::own_allreduce(true));
  return kind;
}

void time_collectives(Communicator& communicator, const CollectiveKind& kind,
                      const CollectiveSweep& sweep,
                      const std::function<void(const std::vector<CollectiveTime>&)>& report) {
  for (std::int64_t bytes = sweep.least_bytes; bytes <= sweep.most_bytes; bytes *= sweep.factor) {
    const std::vector<CollectiveTime> times = Meter(communicator, kind, sweep, bytes).run();
    if (communicator.rank() == 0) report(times);
  }
}

double bus_bytes_per_second(const CollectiveKind& kind, const CollectiveTime& time,
                            double seconds) {
  return kind.least(time.ranks).volume * static_cast<double>(time.bytes) / seconds;
}

double median_of(std::vector<double> values) {
  check(!values.empty(), "a median needs values");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace tutti
