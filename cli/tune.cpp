// SPDX-License-Identifier: Apache-2.0
// tutti tune: measures the variants of each operator of a network and keeps the times in the user's
// cache, where training finds them.
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/terminal.h"
#include "tutti/compile/compile_step.h"
#include "tutti/data/sampler.h"
#include "tutti/recipe/step_spec.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tutti::cli {
namespace {

struct TuneArguments {
  JobOptions job;
  std::string subject;  // a model or a recipe
};

std::string ms_text(const VariantChoice& choice, const std::string& variant) {
  for (const VariantTime& time : choice.times)
    if (time.variant == variant) return fmt::format("{:.3g} ms", time.ms);
  return "";
}

int run_tune(const TuneArguments& options) {
  const Job job =
      untrained_job(recipe_or_model(options.subject, "tutti tune", options.job), options.job);
  const NetInput input = net_input(job, *open_data(job, data::Split::train));
  const int ranks = job.ranks(), threads = threads_per_rank(job, ranks);
  Terminal terminal;
  std::vector<std::vector<std::string>> rows = {{"layer", "operator", "chosen", "", "rule", ""}};
  int measured = 0;
  StepSpec spec = step_spec(job, input, threads);
  Selection& selection = spec.selection;
  selection.mode = Selection::Mode::measure;
  selection.chosen = [&](const VariantChoice& choice) {
    measured += choice.measured ? 1 : 0;
    if (terminal.interactive())
      terminal.progress(fmt::format("{} {} of {}: {}", rows.size(),
                                    choice.measured ? "measured" : "known", choice.node,
                                    choice.variant));
    rows.push_back({choice.node, choice.sizes, choice.variant, ms_text(choice, choice.variant),
                    choice.rule, ms_text(choice, choice.rule)});
  };
  // The size is a micro-batch of one rank's share; only this rank runs, so that nothing disturbs
  // the measurement.
  const Settings& train = job.table("train");
  const std::int64_t micro_batch = train.integer("batch") / train.integer("accumulate");
  const std::int64_t batch = data::share_of(micro_batch, 0, ranks).count();
  StepCompiler(spec).compile({true, batch, batch});
  if (rows.size() == 1) {
    terminal.print("nothing to tune: no operator of this network has several variants");
    return 0;
  }
  terminal.print(in_columns(rows));
  terminal.print(fmt::format("{} of {} measured with {} thread{}; times are in {}", measured,
                             rows.size() - 1, threads, threads == 1 ? "" : "s",
                             selection.cache_file));
  return 0;
}

std::function<int()> add_tune(CLI::App& app) {
  const auto options = std::make_shared<TuneArguments>();
  app.add_option("model", options->subject,
                 "a model (see: tutti list models), or a recipe by file or name")
      ->type_name("MODEL");
  add_changes(app, options->job);
  app.footer(
      R"(Every variant of every convolution is timed once per sizes, threads and machine, within
kernels.workspace. Training then takes the fastest (kernels.select=cache, the default).

Examples:
  tutti tune my.toml
  tutti tune resnet20 --set train.batch=128 --set machine.threads=1
  tutti list variants            what there is, and what was chosen)");
  return [options] { return run_tune(*options); };
}

}  // namespace

const Command tune_command{"tune", "measure which variants of operators are fastest here",
                           add_tune};

}  // namespace tutti::cli
