// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/journal.h"

#include "tutti/core/cores.h"

#include <nlohmann/json.hpp>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Settings& settings) {
  Json object = Json::object();
  for (const auto& [name, value] : settings.values())
    std::visit([&, &key = name](const auto& held) { object[key] = held; }, value);
  return object;
}

Json json_of(const Recipe& recipe) {
  Json object = Json::object();
  for (const std::string& table : recipe_tables())
    if (const auto found = recipe.tables.find(table); found != recipe.tables.end())
      object[table] = json_of(found->second);
  for (const Settings& layer : recipe.layers) object["model"]["layers"].push_back(json_of(layer));
  return object;
}

}  // namespace

Journal::Journal(const Job& job, bool resumed)
    : writer_(job.record_path(),
              resumed ? OutputFile::Existing::append : OutputFile::Existing::replace) {}

void Journal::begin(const Job& job, const TrainOptions& options, const Replica& replica,
                    int threads, std::int64_t training_samples, std::int64_t first_step) {
  writer_.write({{"kind", "settings"},
                 {"version", options.version},
                 {"file", job.recipe.file},
                 {"recipe", json_of(job.recipe)},
                 {"machine",
                  {{"cpu", cpu_name()},
                   {"cores", available_cores()},
                   {"backend", replica.kernels().name},
                   {"ranks", job.ranks()},
                   {"threads_per_rank", threads}}},
                 {"parameters", replica.table().parameters(/*trainable_only=*/false)},
                 {"training_samples", training_samples},
                 {"first_step", first_step}});
}

void Journal::remark(const std::string& text) {
  writer_.write({{"kind", "remark"}, {"text", text}});
}

void Journal::step(const StepReport& report) {
  writer_.write({{"kind", "step"},
                 {"step", report.step},
                 {"epoch", report.epoch},
                 {"seconds", report.seconds},
                 {"loss", report.loss},
                 {"accuracy", report.accuracy},
                 {"absolute_error", report.absolute_error},
                 {"gradient_norm", report.gradient_norm},
                 {"rate", report.rate},
                 {"loss_scale", report.loss_scale},
                 {"batch", report.batch},
                 {"samples_per_second", report.samples_per_second},
                 {"sent_bytes", report.sent_bytes}});
}

void Journal::evaluation(const StepReport& at, const Evaluation& evaluation) {
  writer_.write({{"kind", "evaluation"},
                 {"step", at.step},
                 {"epoch", at.epoch},
                 {"seconds", at.seconds},
                 {"loss", evaluation.loss},
                 {"accuracy", evaluation.accuracy},
                 {"absolute_error", evaluation.absolute_error},
                 {"samples", evaluation.samples}});
}

void Journal::confusion(std::int64_t step, const Evaluation& evaluation) {
  const Confusion& confusion = evaluation.confusion;
  Json counts = Json::array();
  for (std::int64_t truth = 0; truth < confusion.classes; ++truth) {
    const auto row = confusion.counts.begin() + truth * confusion.classes;
    counts.push_back(std::vector<std::int64_t>(row, row + confusion.classes));
  }
  writer_.write({{"kind", "confusion"},
                 {"step", step},
                 {"names", evaluation.class_names},
                 {"counts", std::move(counts)}});
}

void Journal::skipped(std::int64_t step, double loss_scale, double next_loss_scale) {
  writer_.write({{"kind", "skipped"},
                 {"step", step},
                 {"loss_scale", loss_scale},
                 {"next_loss_scale", next_loss_scale}});
}

void Journal::checkpoint(const StepReport& at, const std::string& path) {
  writer_.write(
      {{"kind", "checkpoint"}, {"step", at.step}, {"seconds", at.seconds}, {"path", path}});
}

void Journal::best(const StepReport& at, const std::string& path) {
  writer_.write({{"kind", "best"}, {"step", at.step}, {"seconds", at.seconds}, {"path", path}});
}

void Journal::timeline(const Timeline& timeline) {
  const std::vector<int> lanes = lanes_of(timeline.events);
  Json events = Json::array();
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const TraceEvent& event = timeline.events[i];
    events.push_back({event.rank, static_cast<int>(event.stream), lanes[i], event.name,
                      event.detail, event.start, event.seconds, event.bytes});
  }
  writer_.write(
      {{"kind", "timeline"},
       {"step", timeline.step + 1},
       {"seconds", timeline.seconds},
       {"step_seconds", timeline.step_seconds},
       {"columns", {"rank", "stream", "lane", "name", "detail", "start", "seconds", "bytes"}},
       {"events", std::move(events)}});
}

void Journal::failure(std::int64_t step, const std::string& message) {
  writer_.write({{"kind", "failure"}, {"step", step}, {"message", message}});
}

void Journal::end(const TrainSummary& summary) {
  Json line = {{"kind", "summary"},
               {"why", name_of(summary.why)},
               {"steps", summary.steps_done},
               {"epochs", summary.epochs_done},
               {"seconds", summary.seconds},
               {"samples_per_second", summary.samples_per_second},
               {"sent_bytes", summary.sent_bytes},
               {"planned_bytes", summary.memory.planned_bytes},
               {"grown_bytes", summary.memory.grown_bytes},
               {"loss", summary.loss},
               {"accuracy", summary.accuracy},
               {"absolute_error", summary.absolute_error}};
  if (summary.evaluated) {
    line["test_loss"] = summary.test_loss;
    line["test_accuracy"] = summary.test_accuracy;
    line["test_absolute_error"] = summary.test_absolute_error;
  }
  if (summary.diverged) line["diverged"] = true;
  if (summary.skipped_steps > 0) line["skipped_steps"] = summary.skipped_steps;
  if (summary.signal_number != 0) line["signal"] = summary.signal_number;
  writer_.write(line);
}

}  // namespace tutti
