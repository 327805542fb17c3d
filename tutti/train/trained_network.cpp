// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/trained_network.h"

#include "tutti/checkpoint/checkpoint.h"
#include "tutti/data/csv.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <sstream>

namespace tutti {
namespace {

// Metadata that must be equal for data to mean the same to a network.
constexpr std::array encoding_keys = {"class_names", "mean", "std", "target_mean", "target_std"};

std::string name_of_weights(std::string weights) {
  if (constexpr std::string_view ending = ".safetensors"; weights.ends_with(ending))
    weights.resize(weights.size() - ending.size());
  return weights;
}

std::string file_of(const std::string& weights) {
  return name_of_weights(weights) + ".safetensors";
}

template <class Numbers>
std::string text_of(const Numbers& numbers) {
  return fmt::format("{}", fmt::join(numbers, " "));
}

template <class Number>
std::vector<Number> numbers_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<Number> numbers;
  for (Number number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

// The metadata of a weights file. Checkpoints of earlier versions have it in NAME.state.
Metadata metadata_of(const std::string& weights) {
  const std::string file = file_of(weights);
  if (!std::filesystem::exists(file)) throw Error("there is no checkpoint {}", file);
  Metadata metadata = read_safetensors_metadata(file);
  if (!metadata.contains("sample_shape") &&
      std::filesystem::exists(name_of_weights(weights) + ".state"))
    metadata = read_checkpoint_state(weights).notes;
  return metadata;
}

// A value of the metadata; empty when it is not there.
std::string value_in(const Metadata& metadata, const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : found->second;
}

[[noreturn]] void refuse(const std::string& file, const std::string& key,
                         const std::string& found) {
  throw Error("{}: metadata '{}' is \"{}\", which Tutti has not written; give a file that it has",
              file, key, found);
}

// A list of names as JSON. Bytes that are not UTF-8 are replaced.
std::string json_of(const std::vector<std::string>& names) {
  return nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> names_in(const std::string& file, const Metadata& metadata) {
  const std::string text = value_in(metadata, "class_names");
  if (text.empty()) return {};
  const nlohmann::json names = nlohmann::json::parse(text, nullptr, false);
  if (!names.is_array()) refuse(file, "class_names", text);
  std::vector<std::string> result;
  for (const nlohmann::json& name : names) {
    if (!name.is_string()) refuse(file, "class_names", text);
    result.push_back(name.get<std::string>());
  }
  return result;
}

// The fields of a sample as JSON, for networks that take more than an input and labels or targets.
std::string json_of(const Fields& fields) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Field& field : fields)
    all.push_back({{"name", field.name},
                   {"dtype", name_of(field.dtype)},
                   {"shape", field.shape},
                   {"unit", field.unit == Field::token ? "token" : "sample"},
                   {"capacity", field.capacity}});
  return all.dump();
}

Fields fields_in(const std::string& file, const Metadata& metadata) {
  const std::string text = value_in(metadata, "fields");
  try {
    Fields fields;
    for (const nlohmann::json& one : nlohmann::json::parse(text))
      fields.push_back({.name = one.at("name"),
                        .dtype = dtype_named(one.at("dtype").get<std::string>()),
                        .shape = one.at("shape").get<Shape>(),
                        .unit = one.at("unit") == "token" ? Field::token : Field::sample,
                        .capacity = one.at("capacity")});
    field_named(fields, "input");
    answers_in(fields);
    return fields;
  } catch (const std::exception&) {
    refuse(file, "fields", text);
  }
}

data::Scaling scaling_in(const std::string& file, const Metadata& metadata,
                         const std::string& prefix, const Shape& shape) {
  if (!metadata.contains(prefix + "mean")) return {};
  const data::Scaling scaling{.mean = numbers_in<double>(value_in(metadata, prefix + "mean")),
                              .std = numbers_in<double>(value_in(metadata, prefix + "std"))};
  try {
    scaling.require_fit(shape);
  } catch (const Error&) {
    refuse(file, prefix + "mean", value_in(metadata, prefix + "mean"));
  }
  return scaling;
}

data::Scaling known_scaling(const Job& job, const std::string& weights, const std::string& prefix) {
  const auto given = data::given_scaling(job.table("data"), prefix);
  if (!given)
    throw Error(
        "{} does not say how the {} of its training data were scaled, and {} has them measured; "
        "give data.{}mean and data.{}std as they were in training",
        file_of(weights), prefix.empty() ? "inputs" : "targets", job.recipe.file, prefix, prefix);
  return *given;
}

}  // namespace

Metadata weights_metadata(const Job& job, const data::Dataset& training) {
  Recipe recipe{.file = job.recipe.file, .tables = {}, .layers = job.recipe.layers};
  for (const char* table : {"model", "data"}) recipe.tables[table] = job.table(table);
  recipe.tables["train"].set("dtype", job.table("train").text("dtype"));
  Metadata metadata = {{"recipe", to_toml(recipe)},
                       {"sample_shape", text_of(training.sample_shape())},
                       {"mean", text_of(training.scaling.mean)},
                       {"std", text_of(training.scaling.std)},
                       {"classes", std::to_string(training.classes)}};
  if (training.classes == 0) {
    metadata["target_shape"] = text_of(training.target_shape());
    metadata["target_mean"] = text_of(training.target_scaling.mean);
    metadata["target_std"] = text_of(training.target_scaling.std);
  }
  if (!training.class_names.empty()) metadata["class_names"] = json_of(training.class_names);
  if (training.fields.size() > 2) metadata["fields"] = json_of(training.fields);
  return metadata;
}

std::optional<Recipe> recipe_in(const std::string& weights) {
  const std::string text = value_in(metadata_of(weights), "recipe");
  if (text.empty()) return std::nullopt;
  return parse_recipe(text, file_of(weights));
}

std::optional<TrainedNetwork> network_in(const std::string& weights) {
  const Metadata metadata = metadata_of(weights);
  if (!metadata.contains("sample_shape")) return std::nullopt;
  const std::string file = file_of(weights);
  const auto integers = [&](const char* key) {
    return numbers_in<std::int64_t>(value_in(metadata, key));
  };
  const Shape input = integers("sample_shape"), targets = integers("target_shape");
  const std::vector<std::int64_t> classes = integers("classes");
  TrainedNetwork network{.fields = {}, .class_names = names_in(file, metadata)};
  const bool listed = metadata.contains("fields");
  if (input.empty() && !listed) refuse(file, "sample_shape", value_in(metadata, "sample_shape"));
  if (classes.empty() || (classes[0] == 0 && targets.empty() && !listed))
    refuse(file, "classes", value_in(metadata, "classes"));
  network.classes = classes[0];
  network.fields = listed           ? fields_in(file, metadata)
                   : classes[0] > 0 ? input_and_labels(input)
                                    : input_and_targets(input, targets);
  if (!network.class_names.empty() &&
      static_cast<std::int64_t>(network.class_names.size()) != network.classes)
    refuse(file, "class_names", value_in(metadata, "class_names"));
  network.scaling = scaling_in(file, metadata, "", input);
  network.target_scaling = scaling_in(file, metadata, "target_", targets);
  return network;
}

TrainedNetwork trained_network(const Job& job, const std::string& weights) {
  if (auto said = network_in(weights)) return *said;
  const data::Scaling scaling = known_scaling(job, weights, "");
  const auto dataset = open_data(job, data::Split::train);
  return {.fields = dataset->fields,
          .classes = dataset->classes,
          .class_names = dataset->class_names,
          .scaling = scaling,
          .target_scaling =
              dataset->classes > 0 ? data::Scaling{} : known_scaling(job, weights, "target_")};
}

Job scaled_as_trained(const Job& job, const std::string& weights) {
  Job result = job;
  const auto network = network_in(weights);
  if (!network) return result;
  Settings& data = result.recipe.tables["data"];
  const auto give = [&](const char* key, const std::vector<double>& numbers) {
    if (data.has(key)) data.set(key, numbers);
  };
  give("mean", network->scaling.mean);
  give("std", network->scaling.std);
  give("target_mean", network->target_scaling.mean);
  give("target_std", network->target_scaling.std);
  if (data.has("class_names")) data.set("class_names", data::csv_line(network->class_names));
  return result;
}

void require_trained_classes(const data::Dataset& dataset, const std::string& weights) {
  const auto network = network_in(weights);
  if (!network) return;
  if (network->classes != dataset.classes)
    throw Error("{} was trained on {} classes, but the data has {}", file_of(weights),
                network->classes, dataset.classes);
  if (network->class_names.empty() || dataset.class_names.empty()) return;
  if (json_of(network->class_names) != json_of(dataset.class_names))
    throw Error("{} was trained on the classes {}, but the data has {}", file_of(weights),
                fmt::join(network->class_names, ", "), fmt::join(dataset.class_names, ", "));
}

void require_same_scaling(const Job& job, const data::Dataset& training,
                          const std::string& weights) {
  const Metadata there = metadata_of(weights), here = weights_metadata(job, training);
  if (!there.contains("sample_shape")) return;
  for (const char* key : encoding_keys)
    if (const std::string was = value_in(there, key), is = value_in(here, key);
        there.contains(key) && was != is)
      throw Error(
          "{} can't be resumed: the training data has changed: '{}' was {} and is {} now; bring "
          "the data back, or train from the start without resume",
          file_of(weights), key, was, is.empty() ? "absent" : is);
}

}  // namespace tutti
