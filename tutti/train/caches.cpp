// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/caches.h"

#include "tutti/comm/links.h"
#include "tutti/core/error.h"
#include "tutti/cost/machine.h"
#include "tutti/kernels/variant_cache.h"

namespace tutti {
namespace {

template <class Function>
void add_error(std::vector<std::string>& remarks, Function&& read) {
  try {
    read();
  } catch (const Error& error) {
    remarks.push_back(fmt::format("ignored: {}", error.what()));
  }
}

}  // namespace

std::vector<std::string> cache_remarks() {
  std::vector<std::string> remarks;
  add_error(remarks, [] { read_machine(machine_file()); });
  add_error(remarks, [] {
    for (const char* transport : {"threads", "mpi"}) read_links(links_file(), transport);
  });
  const std::string variants = default_variant_cache();
  if (const std::int64_t lines = unreadable_lines(variants); lines > 0)
    remarks.push_back(
        fmt::format("ignored: {} line{} of {} can't be read; remove it and run tutti tune again",
                    lines, lines == 1 ? "" : "s", variants));
  return remarks;
}

}  // namespace tutti
