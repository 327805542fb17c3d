// SPDX-License-Identifier: Apache-2.0
// tutti bench: measures collectives and prints their times beside the predicted ones.
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/terminal.h"
#include "tutti/comm/links.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/core/bytes.h"
#include "tutti/core/cores.h"
#include "tutti/core/record.h"
#include "tutti/cost/collective_times.h"
#include "tutti/cost/measure_links.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tutti::cli {
namespace {

struct BenchArguments {
  std::string kind;  // kind of collective
  CollectiveSweep sweep;
  std::string least = "4", most = "64MiB", dtype = "f32", json;
  int ranks = 0;
  bool calibrate = false;
};

std::int64_t bytes_of_option(const char* option, const std::string& text) {
  const std::optional<std::int64_t> bytes = bytes_in(text);
  if (!bytes || *bytes < 1)
    throw UsageError("{} is '{}', expected a number of bytes like 4096 or 64MiB", option, text);
  return *bytes;
}

CollectiveSweep sweep_of(const BenchArguments& options) {
  CollectiveSweep sweep = options.sweep;
  sweep.dtype = dtype_named(options.dtype);
  sweep.least_bytes = std::max(bytes_of_option("--min", options.least), bytes_of(sweep.dtype));
  sweep.most_bytes = bytes_of_option("--max", options.most);
  if (sweep.most_bytes < sweep.least_bytes)
    throw UsageError("--max {} is less than --min {}", options.most, options.least);
  return sweep;
}

double low_of(std::vector<double> seconds, double part) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[static_cast<std::size_t>(part * static_cast<double>(seconds.size() - 1))];
}

nlohmann::ordered_json record_of(const CollectiveKind& kind, const CollectiveTime& time,
                                 const char* transport) {
  const double seconds = median_of(time.seconds);
  nlohmann::ordered_json record = {
      {"name", kind.name},
      {"transport", transport},
      {"ranks", time.ranks},
      {"bytes", time.bytes},
      {"elements", time.elements},
      {"dtype", name_of(time.dtype)},
      {"algorithm", time.algorithm},
      {"chosen", time.chosen},
      {"seconds", seconds},
      {"seconds_low", low_of(time.seconds, 0.25)},
      {"seconds_high", low_of(time.seconds, 0.75)},
      {"algorithm_bytes_per_second", static_cast<double>(time.bytes) / seconds},
      {"bus_bytes_per_second", bus_bytes_per_second(kind, time, seconds)},
      {"predicted_seconds", time.predicted_seconds},
      {"predicted_of_measured", time.predicted_seconds / seconds}};
  if (time.bound_seconds) record["bound_seconds"] = *time.bound_seconds;
  return record;
}

std::string row_text(const CollectiveKind& kind, const CollectiveTime& time) {
  const double seconds = median_of(time.seconds);
  const std::string name =
      time.chosen == time.algorithm ? time.algorithm : time.algorithm + ": " + time.chosen;
  return fmt::format("{:>11} {:>10}  {:<18} {:>12.2f} {:>8.2f} {:>8.2f} {:>12.2f} {:>6.2f} {:>12}",
                     time.bytes, time.elements, name, 1e6 * seconds,
                     1e-9 * static_cast<double>(time.bytes) / seconds,
                     1e-9 * bus_bytes_per_second(kind, time, seconds), 1e6 * time.predicted_seconds,
                     time.predicted_seconds / seconds,
                     time.bound_seconds ? fmt::format("{:.2f}", 1e6 * *time.bound_seconds) : "-");
}

// Prints the table of measured and predicted times, and keeps how far predictions are off.
class Table {
 public:
  Table(const CollectiveKind& kind, const char* transport, int ranks, const CollectiveSweep& sweep,
        const std::string& json)
      : kind_(kind), transport_(transport), records_(json, OutputFile::Existing::replace) {
    terminal_.print(fmt::format(
        "{} of {} ranks over {}, {}: medians; algbw = bytes / time, busbw = {:.4g} · algbw; "
        "bound: the least that messages take\n"
        "{:>11} {:>10}  {:<18} {:>12} {:>8} {:>8} {:>12} {:>6} {:>12}",
        kind.name, ranks, transport, name_of(sweep.dtype), kind.least(ranks).volume, "bytes",
        "elements", "algorithm", "µs", "algbw", "busbw", "predicted", "ratio", "bound"));
  }

  void add(const std::vector<CollectiveTime>& times) {
    for (const CollectiveTime& time : times) {
      records_.write(record_of(kind_, time, transport_));
      terminal_.print(row_text(kind_, time));
      if (!collective_is_foreign(time.chosen))
        off_.push_back(std::abs(time.predicted_seconds / median_of(time.seconds) - 1));
    }
  }

  void finish() {
    std::string line = "results are exact";
    if (!off_.empty())
      line += fmt::format("; predictions are off by {:.0f} % in the median", 100 * median_of(off_));
    terminal_.print(line);
  }

 private:
  // Whether a collective is that of MPI, whose algorithm is not known and not predicted.
  static bool collective_is_foreign(const std::string& name) { return name.starts_with("mpi"); }

  const CollectiveKind& kind_;
  const char* transport_;
  Terminal terminal_;
  RecordWriter records_;
  std::vector<double> off_;
};

void measure(Communicator& communicator, const BenchArguments& options, const char* transport) {
  const CollectiveSweep sweep = sweep_of(options);
  const auto longest = static_cast<double>(std::max<std::int64_t>(64, sweep.most_bytes));
  if (options.calibrate)
    use_links(communicator, measure_links(communicator, {.most_bytes = longest}));
  else
    use_measured_links(communicator, transport, links_file());
  if (!options.calibrate && communicator.rank() == 0) remark_on_caches();
  const CollectiveKind kind = measurable_kind(options.kind, communicator);
  for (const std::string& name : sweep.algorithms)
    if (name != "auto") as_usage([&] { return kind.list.find(name); });
  std::unique_ptr<Table> table;
  if (communicator.rank() == 0)
    table = std::make_unique<Table>(kind, transport, communicator.size(), sweep, options.json);
  time_collectives(communicator, kind, sweep,
                   [&](const std::vector<CollectiveTime>& times) { table->add(times); });
  if (table) table->finish();
}

int run_bench(const BenchArguments& options) {
  sweep_of(options);
  if (launched_rank()) {
    if (options.ranks != 0)
      throw UsageError("--ranks is for threads; these ranks are processes of a launcher");
    run_mpi_rank([&](Communicator& communicator) { measure(communicator, options, "mpi"); });
    return 0;
  }
  const std::vector<int>& cores = allowed_cores();
  run_ranks(options.ranks == 0 ? 2 : options.ranks, [&](Communicator& communicator) {
    run_on_core(cores[static_cast<std::size_t>(communicator.rank()) % cores.size()]);
    measure(communicator, options, "threads");
  });
  return 0;
}

std::string plural_of(const std::string& kind) {
  std::string words = kind + "s";
  std::replace(words.begin(), words.end(), '-', '_');
  return words;
}

void add_kind(CLI::App& app, const CollectiveKind& kind,
              const std::shared_ptr<BenchArguments>& options) {
  CLI::App* one = app.add_subcommand(
      kind.name, kind.doc + ": times, bandwidths, predictions and the least possible by size");
  one->callback([options, name = kind.name] { options->kind = name; });
  one->add_option("--ranks", options->ranks, "threads, each a rank (none: 2)")
      ->check(CLI::Range(1, 1024));
  one->add_option("--min", options->least, "the smallest vector, in bytes (none: 4)");
  one->add_option("--max", options->most, "the largest vector (none: 64MiB)");
  one->add_option("--factor", options->sweep.factor, "between sizes (none: 4)")
      ->check(CLI::Range(2, 1 << 20));
  one->add_option("--algorithms", options->sweep.algorithms,
                  fmt::format("which, as tutti list {} names them, and auto (none: all that work)",
                              plural_of(kind.name)))
      ->delimiter(',');
  one->add_option("--dtype", options->dtype, "of the elements (none: f32)")
      ->check(CLI::IsMember({"f32", "bf16", "f64"}));
  one->add_option("--rounds", options->sweep.rounds, "in which algorithms take turns (none: 11)")
      ->check(CLI::Range(1, 1000));
  one->add_flag(
      "--calibrate", options->calibrate,
      "measure the links first and predict by them, not by what tutti calibrate has found");
  one->add_option("--json", options->json, "also write a record per line to this file");
  std::string more = "\n\nExamples:\n";
  if (kind.name == "allreduce")
    more = R"( Over MPI the library's own
allreduce stands beside ours: mpi is MPI_Iallreduce, mpi-blocking is MPI_Allreduce.

Examples:
  tutti bench allreduce --ranks 4 --algorithms ring,tree --max 1MiB --json times.jsonl
  tutti bench allreduce --dtype bf16
)";
  one->footer(
      fmt::format("Results are checked with numbers that add exactly; a wrong one is an error.{}"
                  "  tutti bench {}\n  mpirun -n 2 tutti bench {} --calibrate",
                  more, kind.name, kind.name));
}

std::function<int()> add_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchArguments>();
  app.require_subcommand(1);
  for (const CollectiveKind& kind : collective_kinds()) add_kind(app, kind, options);
  app.footer("Examples:\n  tutti bench allreduce\n  tutti bench all-to-all --ranks 4");
  return [options] { return run_bench(*options); };
}

}  // namespace

const Command bench_command{"bench", "measures collectives beside their predictions", add_bench};

}  // namespace tutti::cli
