// SPDX-License-Identifier: Apache-2.0
// tutti show: the layers of a network and the cost of a training step, before it is trained. The
// memory shown is that of the compiled step that training would run.
#include "cli/batches.h"
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/survey.h"
#include "cli/work_depth.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/compile/compile_step.h"
#include "tutti/core/bytes.h"
#include "tutti/cost/predict.h"
#include "tutti/data/sampler.h"
#include "tutti/nn/describe.h"
#include "tutti/recipe/step_spec.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

namespace tutti::cli {
namespace {

struct ShowArguments {
  JobOptions job;
  std::string subject;  // a model or a recipe
  std::string batch;
  bool passes = false, graph = false, work_depth = false, batches = false, survey = false;
};

// The recipe to show. A model that was made for samples of one shape is shown on such samples.
Recipe subject_of(const ShowArguments& options) {
  Recipe recipe = recipe_or_model(options.subject, "tutti show", options.job);
  if (const auto model = model_called(options.subject); model && !model->sample_shape.empty())
    recipe.tables["train"].set("batch", std::int64_t{1});
  return recipe;
}

std::string recompute_text(const MemoryReport& report) {
  if (report.recomputed == 0) return "";
  return fmt::format("{} of {} cells are computed again: about {:.0f} % more work",
                     report.recomputed, report.cells, 100 * report.extra_work);
}

// What rank 0 runs in a step: one compiled step, or those of its micro-batches.
struct StepPrograms {
  int micro_batches = 1;
  Compiled last;   // the step of the last micro-batch, which exchanges and updates
  Compiled other;  // the step of each micro-batch before the last
};

StepPrograms programs_of(const Job& job, const StepCompiler& compiler) {
  const Settings& train = job.table("train");
  const int micro_batches = static_cast<int>(train.integer("accumulate"));
  const std::int64_t samples =
      data::share_of(train.integer("batch"), micro_batches - 1, micro_batches).count();
  const std::int64_t local = data::share_of(samples, 0, job.ranks()).count();
  StepPrograms step{
      micro_batches, compiler.compile({true, samples, local, {micro_batches > 1, true}}), {}};
  if (micro_batches > 1) step.other = compiler.compile({true, samples, local, {true, false}});
  return step;
}

// Text that says how much of a flat vector a rank keeps; empty where it keeps all.
std::string part_text(const VectorPlan& vectors, std::int64_t bytes) {
  const std::int64_t whole = vectors.table().count() * bytes_of(vectors.net.dtype);
  if (bytes >= whole) return "";
  return fmt::format("this rank's {:.0f} % of {}",
                     100 * static_cast<double>(bytes) / static_cast<double>(whole),
                     bytes_text(whole));
}

std::string memory_text(const VectorPlan& vectors, const StepPrograms& step) {
  const Graph& graph = step.last.step.graph;
  const MemoryPlan& memory = step.last.step.memory;
  std::int64_t states = 0, state_bytes = 0;
  for (const FlatVector& vector : vectors.list)
    if (vector.base >= Base::optimizer) ++states, state_bytes += vector.bytes();
  const std::string state_part = part_text(vectors, vectors.bytes(Base::optimizer));
  std::int64_t batch = 0;
  for (const ValueId id : graph.batch) batch += graph.value(id).bytes();
  const auto row = [](const char* name, std::int64_t bytes, std::string note) {
    return std::vector<std::string>{name, fmt::format("{:>10}", bytes_text(bytes)),
                                    std::move(note)};
  };
  std::vector<std::vector<std::string>> rows = {
      row("arena", memory.arena_bytes,
          fmt::format("activations, scratch, reorders{}; {} live at once",
                      step.micro_batches == 1
                          ? ""
                          : fmt::format(" of one of {} micro-batches", step.micro_batches),
                      bytes_text(memory.live_bytes))),
      row("weights", vectors.bytes(Base::weights),
          part_text(vectors, vectors.bytes(Base::weights))),
      row("gradients", vectors.bytes(Base::gradients),
          part_text(vectors, vectors.bytes(Base::gradients))),
      row("optimizer", state_bytes,
          fmt::format("{} state vector{}{}", states, states == 1 ? "" : "s",
                      state_part.empty() ? "" : ", " + state_part)),
      row("layer state", vectors.bytes(Base::layer_state), ""),
      row("batch", batch, "samples, labels and their weights in the loss"),
      row("total", memory.arena_bytes + vectors.bytes() + batch, recompute_text(step.last.memory))};
  if (const std::int64_t encoded = vectors.bytes(Base::encoded); encoded > 0)
    rows.insert(rows.begin() + 3, row("encoded", encoded, "gradients as they travel (codec.name)"));
  return in_columns(rows);
}

std::string factors_text(const VectorPlan& vectors, int ranks) {
  if (vectors.factored.empty()) return "";
  const bool sharded = vectors.closing.sharded();
  std::vector<std::vector<std::string>> rows;
  for (const LinearRange& layer : vectors.factored) {
    const std::vector<Range>& ranges = vectors.table().ranges;
    const auto range = std::find_if(ranges.begin(), ranges.end(),
                                    [&](const Range& one) { return one.offset == layer.offset; });
    const double sent = factor_elements(layer, ranks) / 2;  // as many are received
    const double instead = gradient_words_sent(layer, ranks, sharded);
    rows.push_back({range->name, fmt::format("{} elements sent instead of {}", grouped(sent),
                                             grouped(instead))});
  }
  return "\nGradients that travel as factors (exchange.payload)\n" + in_columns(rows);
}

std::string passes_text(const std::vector<PassReport>& reports) {
  std::vector<std::vector<std::string>> rows = {{"pass", "ms", "nodes"}};
  for (const PassReport& report : reports)
    rows.push_back({report.name, fmt::format("{:.2f}", 1e3 * report.seconds),
                    fmt::format("{} -> {}", report.nodes_before, report.nodes_after)});
  return in_columns(rows);
}

// A line per node with the implementation that was chosen for it.
std::string graph_text(const CompiledStep& step) {
  std::istringstream lines(print(step.graph));
  std::string text, line;
  for (int i = 0; std::getline(lines, line); ++i) {
    const std::string& chosen = step.implementation(i);
    text += line + (chosen.empty() ? "\n" : fmt::format("  [{}]\n", chosen));
  }
  return text;
}

std::string prediction_text(const StepPrograms& step, int ranks, int threads) {
  const std::optional<Machine> machine = known_machine();
  const Calibration* calibration = machine ? machine->with_threads(threads) : nullptr;
  if (calibration == nullptr)
    return fmt::format("\nTo predict the time of a step, run tutti calibrate{} once\n",
                       machine ? fmt::format(" --threads {}", threads) : "");
  const double seconds =
      predict_step(step.last.step, *calibration).total +
      (step.micro_batches - 1) * predict_step(step.other.step, *calibration).total;
  return fmt::format("\nPredicted step: {:.3g} ms on this machine{} (calibrated {})\n",
                     1e3 * seconds, ranks == 1 ? "" : ", messages not counted", machine->date);
}

std::string step_text(const ShowArguments& options, const StepCompiler& compiler,
                      const StepPrograms& step, int ranks, int threads) {
  const Graph& graph = step.last.step.graph;
  std::string text = fmt::format("\nMemory of a training step ({}{} rank{} × {} thread{})\n",
                                 ranks == 1 ? "" : "each of ", ranks, ranks == 1 ? "" : "s",
                                 threads, threads == 1 ? "" : "s");
  text += memory_text(compiler.vectors(), step);
  text += factors_text(compiler.vectors(), ranks);
  text += prediction_text(step, ranks, threads);
  if (options.batches)
    text +=
        "\nBy size of the batch: predicted times; what a noisy quadratic needs to its target\n" +
        batches_text(compiler, graph.shape(graph.batch[0])[0], threads);
  if (options.passes) text += "\nPasses\n" + passes_text(step.last.passes);
  if (options.graph)
    text += "\nThe step as it runs, layouts and [kernels] chosen\n" + graph_text(step.last.step);
  return text;
}

int run_show(ShowArguments options) {
  if (options.survey) {
    fmt::print("{}", survey_table());
    return 0;
  }
  if (!options.batch.empty())
    options.job.changes.push_back(fmt::format("train.batch={}", options.batch));
  const Job job = untrained_job(subject_of(options), options.job);
  NetInput input = net_input(job, *open_data(job, data::Split::train));
  const std::int64_t batch = job.table("train").integer("batch");
  const int ranks = job.ranks(), threads = threads_per_rank(job, ranks);
  if (options.batches && ranks > 1)
    throw UsageError("--batches looks at one rank, not at {}", ranks);
  const StepCompiler compiler(step_spec(job, input, threads, thread_facts(0, ranks)));
  std::string text = step_text(options, compiler, programs_of(job, compiler), ranks, threads);
  input.batch = batch;
  if (options.work_depth) text += work_depth_text(build_net(job, input));
  fmt::print("{}{}", describe(build_net(job, input)), text);
  return 0;
}

std::function<int()> add_show(CLI::App& app) {
  const auto options = std::make_shared<ShowArguments>();
  app.add_option("model", options->subject,
                 "a model (see: tutti list models), or a recipe by file or name")
      ->type_name("MODEL");
  app.add_option("-b,--batch", options->batch, "samples of a step (none: that of the recipe)")
      ->type_name("N");
  add_changes(app, options->job);
  app.add_flag("--passes", options->passes, "also the time of each pass over the graph");
  app.add_flag("--graph", options->graph, "also the compiled graph: layouts, kernels");
  app.add_flag(
      "--survey", options->survey,
      "instead, the networks of the survey by Ben-Nun and Hoefler (Table 5): parameters and "
      "multiply–adds of a sample as printed there and as counted");
  app.add_flag("--batches", options->batches,
               "also what other sizes of the batch cost, and need on a noisy quadratic");
  app.add_flag("--work-depth", options->work_depth,
               "also work and depth of a training step by operator, layer and convolution method");
  app.footer(
      R"(Work W counts operations, depth D the longest chain of them; W/D is the parallelism there is. A model
is shown on one sample of the shape it was made for, others on the data of the default recipe (images of
28×28), unless --set says otherwise.

Examples:
  tutti show lenet
  tutti show mlp --batch 128 --set model.hidden=[1024,1024]
  tutti show resnet50 --batch 1 --set data.shape=[3,64,64]
  tutti show my.toml --graph
  tutti show async                 a recipe that comes with tutti (see: tutti list recipes)
  tutti show recipes/mlp           the recipe where a model has the same name
  tutti show resnet20 --batch 32 --work-depth
  tutti show --survey)");
  return [options] { return run_show(*options); };
}

}  // namespace

const Command show_command{"show", "layers, shapes, cost and memory of a network", add_show};

}  // namespace tutti::cli
