// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/same_job.h"

#include "tutti/comm/collectives/collective.h"

#include <fmt/ranges.h>

#include <functional>
#include <sstream>
#include <string_view>

namespace tutti {
namespace {

void broadcast(void* data, std::int64_t bytes, Communicator& communicator) {
  const CollectiveArgs args{.dtype = DType::u8,
                            .count = bytes,
                            .tag = communicator.tags().of({.what = "what rank 0 says"})};
  const auto operation = choose(broadcasts(), "auto", communicator, args).make(communicator, args);
  operation->start(data);
  wait(*operation, communicator);
}

// "[train] batch = 64" and the like: the first line that differs, with the table it is in.
struct Difference {
  std::string here, there;
};
Difference first_difference(const std::string& here, const std::string& there) {
  std::istringstream own(here), other(there);
  std::string own_line, other_line, table;
  while (true) {
    const bool more = static_cast<bool>(std::getline(own, own_line));
    const bool more_there = static_cast<bool>(std::getline(other, other_line));
    if (!more) own_line = "nothing";
    if (!more_there) other_line = "nothing";
    if (own_line != other_line || !more)
      return {fmt::format("{}{}", table, own_line), fmt::format("{}{}", table, other_line)};
    if (own_line.starts_with("[")) table = own_line + " ";
  }
}

}  // namespace

std::string text_of_rank_0(std::string text, Communicator& communicator) {
  auto bytes = static_cast<std::int64_t>(text.size());
  broadcast(&bytes, sizeof bytes, communicator);
  text.resize(static_cast<std::size_t>(bytes));
  broadcast(text.data(), bytes, communicator);
  return text;
}

void require_same_job(const Job& job, const std::string& version, Communicator& communicator) {
  const std::string own = fmt::format("version {}\n{}without passes: {}\n", version,
                                      resolved_recipe(job), fmt::join(job.without_passes, " "));
  const std::string first = text_of_rank_0(own, communicator);
  if (own != first) {
    const auto [here, there] = first_difference(own, first);
    throw Error("it has '{}' where rank 0 has '{}'; start all ranks with the same recipe", here,
                there);
  }
  communicator.barrier();
}

void require_same_weights(const Replica& replica, std::int64_t step, Communicator& communicator) {
  const Buffer weights(replica.table().count() * bytes_of(replica.dtype()));
  replica.device().copy_out(weights.data(), replica.weights(), weights.bytes());
  const std::size_t own = std::hash<std::string_view>()(
      {reinterpret_cast<const char*>(weights.data()), static_cast<std::size_t>(weights.bytes())});
  std::size_t first = own;
  broadcast(&first, sizeof first, communicator);
  if (own != first)
    throw Error("after step {} its weights are others than those of rank 0 (exchange.verify)",
                step);
}

}  // namespace tutti
