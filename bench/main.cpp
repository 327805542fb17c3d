// SPDX-License-Identifier: Apache-2.0
// Times what the engine does, after checking that it does it right: peaks of the machine, single
// operators, collectives, reading data, training steps, compiling them; with --peers the same
// steps in PyTorch and the same sums in gloo and MPI.
// JSON lines first, then a table. A wrong result ends it with exit code 1; a slow one does not.
#include "tutti/core/cores.h"
#include "tutti/core/own_program.h"

#include "bench/allreduce.h"
#include "bench/compile.h"
#include "bench/convolutions.h"
#include "bench/data.h"
#include "bench/inference.h"
#include "bench/operators.h"
#include "bench/peaks.h"
#include "bench/prediction.h"
#include "bench/serve.h"
#include "bench/serve_sums.h"
#include "bench/simulation.h"
#include "bench/steps.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>

namespace tutti::bench {
namespace {

void run(const Options& options) {
  Records records(options.json);
  records.note({{"name", "machine"}, {"cpu", cpu_name()}, {"cores", available_cores()}});
  const Peaks peaks = measure_peaks(options, records);
  bench_operators(options, peaks, records);
  bench_convolutions(options, peaks, records);
  bench_allreduce(options, peaks, records);
  bench_data(options, records);
  bench_steps(options, peaks, records);
  bench_inference(options, records);
  bench_prediction(options, records);
  bench_simulation(options, records);
  bench_compile(options, records);
  records.print_table();
}

int main(int argc, char** argv) {
  Options options;
  if (allowed_cores().size() < 2) options.threads = {1};  // asked before any thread is bound
  std::string model, data, sums;
  int ranks = 1;
  bool shard = false;
  CLI::App app("Times training steps and single operators and checks their results.");
  app.add_flag(
      "--peers", options.peers,
      "compare training steps with PyTorch, sums with gloo and MPI, each in the fastest of "
      "the ways that it can be run");
  app.add_option(
      "--python", options.python,
      "the Python that has PyTorch (default: the first of python3 and /usr/bin/python3)");
  app.add_flag("--eager", options.eager,
               "leave out torch.compile, which takes a minute or more for each network");
  app.add_option("--filter", options.filter, "measure only what has this in its name");
  app.add_option("--repeats", options.repeats, "rounds of each comparison")
      ->check(CLI::Range(1, 1000));
  app.add_option("--threads", options.threads, "numbers of threads")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  app.add_option("--json", options.json, "also write the JSON lines to this file");
  app.add_flag("--quick", options.quick, "short rounds, for a first look");
  app.add_option("--serve", model, "")->group("");  // what a child process is told
  app.add_option("--serve-sums", sums, "")->group("");
  app.add_option("--data", data, "")->group("");
  app.add_option("--ranks", ranks, "")->group("");
  app.add_flag("--shard", shard, "")->group("");
  app.footer("tools/bundle packs this program for machines where only PyTorch is installed.");
  CLI11_PARSE(app, argc, argv);
  options.program = own_program();
  std::signal(SIGPIPE, SIG_IGN);
  try {
    if (!sums.empty())
      serve_sums(sums == "messages");
    else if (model.empty())
      run(options);
    else
      serve(model, data, options.threads.front(), ranks, shard);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti_bench: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace tutti::bench

int main(int argc, char** argv) { return tutti::bench::main(argc, argv); }
