// SPDX-License-Identifier: Apache-2.0
#include "tutti/report/read_record.h"

#include "tutti/core/error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace tutti::report {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Reader {
 public:
  explicit Reader(std::string path) { run_.path = std::move(path); }

  // `whole`: the line ends in a newline. A line that does not may be cut off anywhere.
  void line(const std::string& text, bool whole) {
    ++line_;
    json_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (json_.is_discarded() && !whole) return;
    if (!json_.is_object() || !json_.contains("kind"))
      fail("expected a JSON object with a \"kind\", as in the records of tutti train");
    const std::string kind = text_of(json_["kind"]);
    if (!begun_ && kind != "settings")
      fail(fmt::format("expected the settings of a run, got a line of kind \"{}\"", kind));
    if (kind == "settings") settings();
    if (kind == "step") step();
    if (kind == "evaluation") run_.test.push_back(point());
    if (kind == "checkpoint") point();
    if (kind == "timeline") timeline();
    if (kind == "confusion") confusion();
    if (kind == "remark") run_.remarks.push_back(text_of(json_.value("text", Json())));
    if (kind == "failure") run_.state = "failed: " + text_of(json_.value("message", Json()));
    if (kind == "summary") summary();
  }

  Run end() {
    if (!begun_)
      throw Error("{} holds no complete line, expected a record of tutti train", run_.path);
    // Accuracy or absolute error is always 0: a network predicts classes or numbers.
    const auto has_error = [](const Point& at) { return at.absolute_error > 0; };
    const bool classes = std::none_of(run_.training.begin(), run_.training.end(), has_error) &&
                         std::none_of(run_.test.begin(), run_.test.end(), has_error);
    const auto leave_out = [&](Point& at) {
      (classes ? at.absolute_error : at.accuracy) = unknown;
    };
    std::for_each(run_.training.begin(), run_.training.end(), leave_out);
    std::for_each(run_.test.begin(), run_.test.end(), leave_out);
    leave_out(run_.last);
    return std::move(run_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error("{}:{}: {}", run_.path, line_, what);
  }

  // The object under this key, empty when there is none.
  Json object(const Json& parent, const char* key) const {
    const auto found = parent.find(key);
    if (found == parent.end()) return Json::object();
    if (!found->is_object()) fail(fmt::format("\"{}\" is no object", key));
    return *found;
  }

  double number(const Json& parent, const char* key) const {
    const auto found = parent.find(key);
    if (found == parent.end() || found->is_null()) return unknown;  // NaN is written as null
    if (!found->is_number()) fail(fmt::format("\"{}\" is no number", key));
    return found->get<double>();
  }
  double number(const char* key) const { return number(json_, key); }

  void settings() {
    begun_ = true;
    const double first_step = std::fmax(0, number("first_step"));
    // A run that goes on repeats the steps after its checkpoint, and its clock starts anew.
    const auto repeated = [&](const Point& at) { return at.step > first_step; };
    std::erase_if(run_.training, repeated);
    std::erase_if(run_.test, repeated);
    if (run_.confusion.step > first_step) run_.confusion = {};
    seconds_at_.erase(seconds_at_.upper_bound(first_step), seconds_at_.end());
    seconds_before_ = seconds_at_.empty() ? 0 : seconds_at_.rbegin()->second;
    run_.state = "no end in the record";

    run_.settings.clear();
    const Json recipe = object(json_, "recipe"), machine = object(json_, "machine");
    for (const auto& table : recipe.items())
      for (const Json keys = object(recipe, table.key().c_str());
           const auto& [key, value] : keys.items())
        run_.settings.emplace_back(table.key() + "." + key, text_of(value));
    for (const auto& [key, value] : machine.items())
      run_.settings.emplace_back("run." + key, text_of(value));
    for (const char* key : {"parameters", "training_samples", "version"})
      if (json_.contains(key))
        run_.settings.emplace_back(std::string("run.") + key, text_of(json_[key]));
    training_samples_ = number("training_samples");
    batch_ = number(object(recipe, "train"), "batch");
  }

  Point point() {
    Point at{.step = number("step"),
             .samples = number("epoch") * training_samples_,
             .seconds = seconds_before_ + number("seconds"),
             .loss = number("loss"),
             .accuracy = number("accuracy"),
             .absolute_error = number("absolute_error"),
             .gradient_norm = number("gradient_norm"),
             .rate = number("rate"),
             .samples_per_second = number("samples_per_second"),
             .sent_bytes = number("sent_bytes")};
    if (std::isnan(at.step) || std::isnan(at.seconds)) fail("expected \"step\" and \"seconds\"");
    if (std::isnan(training_samples_)) at.samples = at.step * batch_;  // older records
    seconds_at_[at.step] = at.seconds;
    return at;
  }

  void step() {
    run_.last = point();
    run_.training.push_back(run_.last);
  }

  void timeline() {
    run_.timeline_step = number("step");
    run_.timeline.clear();
    run_.timeline_seconds.clear();
    try {
      if (json_.contains("step_seconds")) json_["step_seconds"].get_to(run_.timeline_seconds);
      for (const Json& event : json_.at("events"))
        run_.timeline.push_back({.rank = event.at(0),
                                 .message = event.at(1) != 0,
                                 .lane = event.at(2),
                                 .name = event.at(3),
                                 .detail = event.at(4),
                                 .start = event.at(5),
                                 .seconds = event.at(6),
                                 .bytes = event.at(7)});
    } catch (const Json::exception&) {
      fail("expected events of rank, stream, lane, name, detail, start, seconds, bytes");
    }
  }

  void confusion() {
    Confusion& read = run_.confusion = {.step = number("step"), .names = {}, .counts = {}};
    try {
      json_.at("names").get_to(read.names);
      json_.at("counts").get_to(read.counts);
    } catch (const Json::exception&) {
      fail("expected names of classes, and counts by true and predicted class");
    }
    for (const std::vector<double>& row : read.counts)
      if (row.size() != read.names.size() || read.counts.size() != read.names.size())
        fail(fmt::format("expected counts of {} by {} classes", read.names.size(),
                         read.names.size()));
  }

  void summary() {
    run_.state = "ended by " + text_of(json_.value("why", Json()));
    std::replace(run_.state.begin(), run_.state.end(), '_', ' ');
    run_.last.step = number("steps");
    run_.last.seconds = seconds_before_ + number("seconds");
    run_.last.loss = number("loss");
    run_.last.accuracy = number("accuracy");
    run_.last.absolute_error = number("absolute_error");
    run_.last.samples_per_second = number("samples_per_second");
    run_.sent_bytes = number("sent_bytes");
    static const std::set<std::string> known = {
        "steps",      "epochs",    "seconds",       "samples_per_second",
        "sent_bytes", "loss",      "accuracy",      "absolute_error",
        "signal",     "test_loss", "test_accuracy", "test_absolute_error"};
    run_.numbers.clear();
    for (const auto& [key, value] : json_.items())
      if (value.is_number() && !known.contains(key))
        run_.numbers.emplace_back(key, value.get<double>());
  }

  Run run_;
  Json json_;
  int line_ = 0;
  bool begun_ = false;
  double training_samples_ = unknown, batch_ = unknown;
  std::map<double, double> seconds_at_;  // since the very beginning, by step
  double seconds_before_ = 0;            // of the runs that this one goes on from
};

std::filesystem::path file_of(const std::string& path) {
  return std::filesystem::is_directory(path) ? std::filesystem::path(path) / "record.jsonl"
                                             : std::filesystem::path(path);
}

// Where links lead; the path itself when there is no such file.
std::filesystem::path resolved(const std::filesystem::path& file) {
  std::error_code nowhere;
  const std::filesystem::path found = std::filesystem::canonical(file, nowhere);
  return nowhere ? file : found;
}

// runs/NAME/record.jsonl is called NAME; other files have their own names, without ending.
std::string name_of(const std::filesystem::path& path) {
  const bool in_run_folder = path.filename() == "record.jsonl" && path.has_parent_path();
  return in_run_folder ? path.parent_path().filename().string() : path.stem().string();
}

}  // namespace

Run read_record(const std::string& path) {
  const std::filesystem::path file = file_of(path);
  std::ifstream in(file);
  if (!in && file != path) throw Error("{} has no record.jsonl, which a run leaves", path);
  if (!in) throw Error("can't read {}: {}", file.string(), std::strerror(errno));
  Reader reader(file.string());
  for (std::string text; std::getline(in, text);) reader.line(text, /*whole=*/!in.eof());
  Run run = reader.end();
  run.name = name_of(resolved(file));
  return run;
}

Records read_records(const std::vector<std::string>& paths) {
  Records records;
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) try {
      if (seen.insert(resolved(file_of(path))).second) records.runs.push_back(read_record(path));
    } catch (const Error& error) {
      records.left_out.emplace_back(error.what());
    }
  std::map<std::string, int> times;
  for (const Run& run : records.runs) ++times[run.name];
  for (Run& run : records.runs)
    if (times[run.name] > 1) run.name = run.path;
  return records;
}

}  // namespace tutti::report
