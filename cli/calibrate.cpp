// SPDX-License-Identifier: Apache-2.0
// tutti calibrate: measures the machine once, so that the time of a step can be predicted.
#include "tutti/cost/calibrate.h"

#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "tutti/comm/mpi/mpi.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/core/bytes.h"
#include "tutti/core/cores.h"
#include "tutti/cost/measure_links.h"
#include "tutti/kernels/backends.h"

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>

namespace tutti::cli {
namespace {

struct CalibrateArguments {
  std::vector<int> threads;
  std::string file;
  bool show = false, quick = false, links = false;
};

std::string rate_text(double per_second, const char* unit) {
  return fmt::format("{:.1f} G{}/s", per_second * 1e-9, unit);
}

std::vector<std::string> stream_row(const StreamSample& sample) {
  return {fmt::format("{:>10}", bytes_text(static_cast<std::int64_t>(sample.bytes))),
          rate_text(1 / sample.seconds_per_byte, "B")};
}

// A table of the classes: how many sizes were measured, the slowest and the fastest rate.
std::string classes_text(const Calibration& calibration) {
  std::vector<std::vector<std::string>> rows = {{"operator/kernel", "sizes", "slowest", "fastest"}};
  for (const auto& [name, samples] : calibration.classes) {
    double least = 1e300, most = 0;
    for (const TimeSample& sample : samples) {
      least = std::min(least, sample.units / sample.seconds);
      most = std::max(most, sample.units / sample.seconds);
    }
    const bool product = name.starts_with("matmul") || name.starts_with("convolution");
    const char* unit = product ? "multiply-adds" : "B";
    rows.push_back(
        {name, fmt::format("{}", samples.size()), rate_text(least, unit), rate_text(most, unit)});
  }
  return in_columns(rows);
}

std::string machine_text(const Machine& machine) {
  std::string text = fmt::format("{}, measured {}\n", machine.cpu, machine.date);
  for (const auto& [threads, calibration] : machine.by_threads) {
    text += fmt::format(
        "\n{} thread{}: fastest product {}, copy {}, starting an operator {:.1f} µs\n", threads,
        threads == 1 ? "" : "s", rate_text(2 * calibration.multiply_adds_per_second, "FLOP"),
        rate_text(calibration.bytes_per_second, "B"), 1e6 * calibration.fork_join_seconds);
    std::vector<std::vector<std::string>> rows = {{"copy within", "read and write"}};
    for (const StreamSample& sample : calibration.stream) rows.push_back(stream_row(sample));
    text += in_columns(rows) + "\n" + classes_text(calibration);
  }
  return text;
}

int show(const std::string& file) {
  const std::optional<Machine> machine = read_machine(file);
  if (!machine) throw Error("there is no calibration at '{}'; run tutti calibrate", file);
  fmt::print("{}\n{}", file, machine_text(*machine));
  return 0;
}

std::string link_text(const char* name, const std::vector<LinkSample>& samples) {
  if (samples.empty()) return "";
  const LinkCost link = link_of(samples);
  return fmt::format("{}: {:.2f} µs, {:.2f} GB/s, adding {:.2f} GB/s\n", name,
                     1e6 * link.latency_seconds, 1e-9 / link.seconds_per_byte,
                     1e-9 / std::max(1e-15, link.seconds_per_added_byte));
}

// Adds measured links to `file`, or to the file of the user's cache, which is begun anew when it is
// damaged. Returns the file's name.
std::string keep_links(std::string file, const char* transport, const MeasuredLinks& links) {
  if (file.empty()) {
    file = links_file();
    try {
      read_links(file, transport);
    } catch (const Error&) {
      std::filesystem::remove(file);
    }
  }
  write_links(file, transport, links);
  return file;
}

// Measures the links between the ranks of this job; all ranks must call it.
void calibrate_links(Communicator& communicator, const char* transport,
                     const CalibrateArguments& options) {
  const LinkOptions sizes = options.quick ? LinkOptions{1 << 12, 1e-4} : LinkOptions{};
  const MeasuredLinks links = measure_links(communicator, sizes);
  if (communicator.rank() != 0) return;
  const std::string file = keep_links(options.file, transport, links);
  fmt::print("{}{}", link_text("within a node", links.within),
             link_text("between nodes", links.across));
  if (links.handling_seconds_per_byte > 0)
    fmt::print("handling messages between nodes: {:.2f} GB/s of a core\n",
               1e-9 / links.handling_seconds_per_byte);
  fmt::print("links between ranks over {} written to {}\n", transport, file);
}

void calibrate_thread_links(const CalibrateArguments& options) {
  const std::vector<int>& cores = allowed_cores();
  run_ranks(2, [&](Communicator& communicator) {
    run_on_core(cores[static_cast<std::size_t>(communicator.rank()) % cores.size()]);
    calibrate_links(communicator, "threads", options);
  });
}

int run_calibrate(CalibrateArguments options) {
  if (launched_rank()) {
    run_mpi_rank(
        [&](Communicator& communicator) { calibrate_links(communicator, "mpi", options); });
    return 0;
  }
  const std::string file = options.file.empty() ? machine_file() : options.file;
  if (options.show) return show(file);
  if (options.links) {
    calibrate_thread_links(options);
    return 0;
  }
  if (options.threads.empty()) options.threads = {1, available_cores()};
  std::sort(options.threads.begin(), options.threads.end());
  options.threads.erase(std::unique(options.threads.begin(), options.threads.end()),
                        options.threads.end());
  const KernelTable kernels = cpu_kernels();
  const std::time_t now = std::time(nullptr);
  Machine machine{.cpu = cpu_name(), .date = fmt::format("{:%Y-%m-%d}", *std::localtime(&now))};
  Terminal terminal;
  double disturbed = 0;
  for (const int threads : options.threads) {
    const auto progress = [&](double part) {
      terminal.progress(fmt::format("{} thread{}: {:.0f} % measured", threads,
                                    threads == 1 ? "" : "s", 100 * part));
    };
    const Calibrated result = calibrate(
        kernels,
        {.threads = threads,
         .quick = options.quick,
         .progress = terminal.interactive() ? std::function<void(double)>(progress) : nullptr});
    machine.by_threads[threads] = result.calibration;
    disturbed = std::max(disturbed, result.disturbed);
  }
  write_machine(file, machine);
  std::size_t samples = 0;
  for (const auto& [threads, calibration] : machine.by_threads)
    for (const auto& [name, all] : calibration.classes) samples += all.size();
  terminal.print(fmt::format("{} times of operators written to {}", samples, file));
  if (options.file.empty()) calibrate_thread_links(options);
  if (disturbed > 0.05)
    terminal.print(fmt::format(
        "Other programs interrupted {:.0f} % of the measurements; run it again on an idle machine",
        100 * disturbed));
  return 0;
}

std::function<int()> add_calibrate(CLI::App& app) {
  const auto options = std::make_shared<CalibrateArguments>();
  app.add_flag("--show", options->show, "print what was measured before");
  app.add_option("--threads", options->threads, "numbers of threads (none: 1 and all cores)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option("--file", options->file,
                 "the only file to write; messages are then measured with --links or under mpirun "
                 "only (none: machine.json and network.json in the cache folder)");
  app.add_flag("--links", options->links, "only messages between two ranks that are threads");
  app.add_flag("--quick", options->quick, "an eighth of the sizes, for a first look");
  app.footer(
      R"(Takes about four minutes and wants an otherwise idle machine. Afterwards tutti show says how long a step
will take. Under mpirun it measures the links between ranks instead, by which training chooses how sums
are taken.

Examples:
  tutti calibrate
  tutti calibrate --show
  mpirun -n 2 tutti calibrate)");
  return [options] { return run_calibrate(*options); };
}

}  // namespace

const Command calibrate_command{"calibrate", "measures this machine, to predict times of steps",
                                add_calibrate};

}  // namespace tutti::cli
