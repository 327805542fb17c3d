// SPDX-License-Identifier: Apache-2.0
// A CSV file as a data set: which columns are inputs, targets or neither, labels as classes,
// missing values, scaling. The whole file is turned into numbers when it is opened.
#include "tutti/core/nearest.h"
#include "tutti/data/csv.h"
#include "tutti/data/split.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace tutti::data {
namespace {

using Columns = std::vector<std::size_t>;
using Members = std::vector<std::int64_t>;

bool has(const Columns& columns, std::size_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

// The column with this name or number. Numbers count from 0, negative ones from the end.
std::size_t column_of(const CsvTable& table, std::string_view word) {
  const std::vector<std::string>& columns = table.columns();
  const auto named = std::find(columns.begin(), columns.end(), word);
  if (named != columns.end()) return static_cast<std::size_t>(named - columns.begin());
  const auto count = static_cast<std::int64_t>(columns.size());
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = failure == std::errc() && end == word.data() + word.size();
  if (is_number && number >= -count && number < count)
    return static_cast<std::size_t>(number < 0 ? count + number : number);
  throw Error("{}: there is no column '{}'{}", table.file(), word,
              is_number ? fmt::format(", expected {} to {}", -count, count - 1)
                        : suggestion(word, columns));
}

Columns columns_named(const CsvTable& table, const std::string& words) {
  Columns columns;
  for (const std::string& name : csv_fields(words))
    if (!name.empty()) columns.push_back(column_of(table, name));
  return columns;
}

// The columns to predict from, and the columns to predict.
struct Roles {
  Columns inputs, targets;
};

Roles roles_of(const CsvTable& table, const Settings& settings) {
  Roles roles{{}, columns_named(table, settings.text("target"))};
  if (roles.targets.empty())
    throw Error("'target' is empty, expected a column of {}", table.file());
  const bool labels = settings.integer("classes") > 0 || !settings.text("class_names").empty();
  if (labels && roles.targets.size() > 1)
    throw Error("'target' names {} columns, but with classes the label is one",
                roles.targets.size());
  const Columns ignored = columns_named(table, settings.text("ignore"));
  for (const std::size_t column : ignored)
    if (has(roles.targets, column))
      throw Error("'ignore' names column '{}' of {}, which is the target", table.columns()[column],
                  table.file());
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    if (!has(roles.targets, i) && !has(ignored, i)) roles.inputs.push_back(i);
  if (roles.inputs.empty()) throw Error("{}: no column is left to predict from", table.file());
  return roles;
}

// The number in a field; NaN for a missing value, which is an Error unless `may_miss`.
double number_at(const CsvTable& table, std::int64_t row, std::size_t column, bool may_miss) {
  const std::string_view field = table.field(row, column);
  if (const std::optional<double> number = number_in(field)) return *number;
  if (!is_missing(field))
    throw Error("{}: '{}' is no number, expected one; columns to leave out are named by 'ignore'",
                table.place(row, column), field);
  if (may_miss) return std::numeric_limits<double>::quiet_NaN();
  throw Error(
      "{}: '{}' is a missing value; fill it in, leave the row out, or, of an input, set missing = "
      "\"mean\"",
      table.place(row, column), field);
}

bool fills_missing(const Settings& settings) { return settings.text("missing") == "mean"; }

// Whether the one target is a label in words rather than a number.
bool has_text_labels(const CsvTable& table, const Roles& roles, const Settings& settings) {
  if (roles.targets.size() != 1) return false;
  std::int64_t texts = 0, numbers = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, roles.targets[0]);
    if (is_missing(field)) continue;
    ++(number_in(field) ? numbers : texts);
  }
  // A single word among numbers to predict is a mistake.
  return texts > 0 && (numbers == 0 || settings.integer("classes") > 0);
}

std::vector<std::string> labels_in(const CsvTable& table, std::size_t column) {
  std::set<std::string> labels;
  for (std::int64_t row = 0; row < table.rows(); ++row)
    if (const std::string_view field = table.field(row, column); !is_missing(field))
      labels.emplace(field);
  return {labels.begin(), labels.end()};
}

// The names of the classes; empty: labels are numbers, or this is regression.
std::vector<std::string> class_names_of(const CsvTable& training, const Roles& roles,
                                        const Settings& settings) {
  std::vector<std::string> names;
  if (!settings.text("class_names").empty())
    names = csv_fields(settings.text("class_names"));
  else if (has_text_labels(training, roles, settings))
    names = labels_in(training, roles.targets[0]);
  const std::int64_t classes = settings.integer("classes");
  if (!names.empty() && classes > 0 && static_cast<std::int64_t>(names.size()) != classes)
    throw Error("{}: there are {} labels, but 'classes' is {}", training.file(), names.size(),
                classes);
  return names;
}

// The training or the test rows of a table.
struct Part {
  const CsvTable& table;
  Roles roles;
  Members members;
};

Scaling measured(const Part& part, const Columns& columns, bool may_miss) {
  const auto value = [&](std::int64_t i, std::int64_t column) {
    return number_at(part.table, part.members[static_cast<std::size_t>(i)],
                     columns[static_cast<std::size_t>(column)], may_miss);
  };
  const Scaling scaling = measure_columns(static_cast<std::int64_t>(part.members.size()),
                                          static_cast<std::int64_t>(columns.size()), value);
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (std::isnan(scaling.mean[i]))
      throw Error("{}: column {} ({}) has no number in the training rows; name it in 'ignore'",
                  part.table.file(), columns[i], part.table.columns()[columns[i]]);
  return scaling;
}

// The scaled numbers of some columns, rows × columns. A missing value becomes 0, as the mean would.
std::vector<float> scaled_inputs(const CsvTable& table, const Columns& inputs,
                                 const Members& members, const Scaling& scaling, bool may_miss) {
  std::vector<float> x;
  x.reserve(members.size() * inputs.size());
  for (const std::int64_t row : members)
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const double number = number_at(table, row, inputs[i], may_miss);
      x.push_back(std::isnan(number) ? 0 : scaling(number, static_cast<std::int64_t>(i)));
    }
  return x;
}

class Csv : public Dataset {
 public:
  Csv(const Part& part, std::int64_t numbered_classes, std::vector<std::string> names,
      const Scaling& inputs_by, const Scaling& targets_by, bool may_miss) {
    name = "csv";
    count = static_cast<std::int64_t>(part.members.size());
    const Shape inputs{static_cast<std::int64_t>(part.roles.inputs.size())};
    const Shape targets{static_cast<std::int64_t>(part.roles.targets.size())};
    class_names = std::move(names);
    classes =
        class_names.empty() ? numbered_classes : static_cast<std::int64_t>(class_names.size());
    fields = classes > 0 ? input_and_labels(inputs) : input_and_targets(inputs, targets);
    scaling = inputs_by;
    scaling.require_fit(inputs);
    x_ = scaled_inputs(part.table, part.roles.inputs, part.members, scaling, may_miss);
    if (classes > 0) {
      for (const std::int64_t row : part.members)
        targets_.push_back(static_cast<float>(label_at(part.table, row, part.roles.targets[0])));
      return;
    }
    target_scaling = targets_by;
    target_scaling.require_fit(targets);
    targets_ = scaled_inputs(part.table, part.roles.targets, part.members, target_scaling, false);
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    const std::int64_t inputs = sample_shape()[0], outputs = classes > 0 ? 1 : target_shape()[0];
    dispatch_float(into.dtype, [&](auto zero) {
      using T = decltype(zero);
      auto* x = static_cast<T*>(into.fields[0]);
      auto* labels = static_cast<std::int32_t*>(classes > 0 ? into.fields[1] : nullptr);
      auto* targets = static_cast<T*>(classes > 0 ? nullptr : into.fields[1]);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        if (x != nullptr) x = std::copy_n(x_.data() + indices[i] * inputs, inputs, x);
        const float* own = targets_.data() + indices[i] * outputs;
        if (labels != nullptr) labels[i] = static_cast<std::int32_t>(*own);
        if (targets != nullptr) targets = std::copy_n(own, outputs, targets);
      }
    });
  }

 private:
  std::int64_t label_at(const CsvTable& table, std::int64_t row, std::size_t column) const {
    const std::string_view field = table.field(row, column);
    if (class_names.empty()) {
      const double label = number_at(table, row, column, false);
      if (label >= 0 && label < static_cast<double>(classes) && label == std::floor(label))
        return static_cast<std::int64_t>(label);
      throw Error("{}: {} is no label, expected 0 to {}", table.place(row, column), label,
                  classes - 1);
    }
    const auto found = std::find(class_names.begin(), class_names.end(), field);
    if (found != class_names.end()) return found - class_names.begin();
    throw Error("{}: '{}' is no label of the training data{}", table.place(row, column), field,
                suggestion(field, class_names));
  }

  std::vector<float> x_;        // count × inputs, scaled
  std::vector<float> targets_;  // count × targets, scaled, or labels
};

// The training or test rows of a table: all rows where there is a test file, else a fraction of
// them.
Part part_of(const CsvTable& table, const Settings& settings, Split split) {
  Part part{table, roles_of(table, settings), Members(static_cast<std::size_t>(table.rows()))};
  std::iota(part.members.begin(), part.members.end(), 0);
  if (settings.text("test_file").empty()) part.members = members_of(table.rows(), settings, split);
  return part;
}

void require_same_columns(const Part& training, const Part& test) {
  const Columns &known = training.roles.inputs, &found = test.roles.inputs;
  if (known.size() != found.size())
    throw Error("training samples are {} but test samples are {}, expected the same", known.size(),
                found.size());
  if (!training.table.has_header() || !test.table.has_header()) return;
  for (std::size_t i = 0; i < known.size(); ++i)
    if (const std::string& there = training.table.columns()[known[i]],
        &here = test.table.columns()[found[i]];
        there != here)
      throw Error("{}: column '{}' stands where {} has '{}', expected the same columns",
                  test.table.file(), here, training.table.file(), there);
}

std::unique_ptr<Dataset> open_csv(const Settings& settings, Split split) {
  const CsvFormat format = csv_format(settings);
  const std::string &train = settings.text("file"), &test = settings.text("test_file");
  const bool own_file = split == Split::test && !test.empty();
  const CsvTable table(own_file ? test : train, format);
  const Part part = part_of(table, settings, split);
  const bool may_miss = fills_missing(settings);
  const std::optional<Scaling> inputs_by = given_scaling(settings, "");
  const std::optional<Scaling> targets_by = given_scaling(settings, "target_");
  const bool names_wanted =
      settings.text("class_names").empty() && has_text_labels(table, part.roles, settings);
  // Scaling and class names that the settings do not give come from the training rows.
  std::optional<CsvTable> training_table;
  std::optional<Part> training;
  if (split == Split::train) training.emplace(part);
  if (split == Split::test && (!inputs_by || !targets_by || names_wanted)) {
    if (own_file) training_table.emplace(train, format);
    training.emplace(part_of(own_file ? *training_table : table, settings, Split::train));
    require_same_columns(*training, part);
  }
  const Part& source = training ? *training : part;
  const std::vector<std::string> names = class_names_of(source.table, source.roles, settings);
  const bool classes = !names.empty() || settings.integer("classes") > 0;
  const auto scaling_of = [&](const std::optional<Scaling>& given, bool needed,
                              Columns Roles::*columns, bool missing) {
    if (given || !needed) return given.value_or(Scaling{});
    return measured(*training, training->roles.*columns, missing);
  };
  return std::make_unique<Csv>(part, settings.integer("classes"), names,
                               scaling_of(inputs_by, true, &Roles::inputs, may_miss),
                               scaling_of(targets_by, !classes, &Roles::targets, false), may_miss);
}

Setting text(std::string name, std::string initial, std::string doc, bool required = false) {
  return {.name = std::move(name),
          .initial = std::move(initial),
          .doc = std::move(doc),
          .required = required};
}

}  // namespace

CsvFormat csv_format(const Settings& settings) {
  const std::string& separator = settings.text("separator");
  if (separator.size() != 1 || separator == "\"" || separator == "\n")
    throw Error("'separator' is \"{}\", expected one character that is no quote", separator);
  const std::string& header = settings.text("header");
  return {separator[0], header == "yes"  ? CsvFormat::yes
                        : header == "no" ? CsvFormat::no
                                         : CsvFormat::automatic};
}

std::vector<float> csv_inputs(const CsvTable& table, const Settings& settings,
                              const Scaling& scaling, std::int64_t inputs) {
  const auto is_ignored = [words = csv_fields(settings.text("ignore"))](const std::string& name) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  const auto enough = [&](const Columns& columns) {
    return static_cast<std::int64_t>(columns.size()) == inputs;
  };
  Columns columns(table.columns().size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  if (!enough(columns))
    std::erase_if(columns, [&](std::size_t i) { return is_ignored(table.columns()[i]); });
  if (!enough(columns)) columns = roles_of(table, settings).inputs;
  if (!enough(columns))
    throw Error("{} has {} columns to predict from, but the network was trained on {}",
                table.file(), columns.size(), inputs);
  Members members(static_cast<std::size_t>(table.rows()));
  std::iota(members.begin(), members.end(), 0);
  return scaled_inputs(table, columns, members, scaling, fills_missing(settings));
}

DatasetEntry csv() {
  const std::vector<Setting> own = {
      text("file", "", "CSV file in UTF-8, with or without a header", true),
      text("test_file", "", "CSV file of test samples; empty: a fraction of 'file'"),
      text("target", "-1",
           "column to predict, by name or number (from 0; below 0 from the end); several with "
           "commas between"),
      text("ignore", "", "columns to leave out, named as in 'target'"),
      text("separator", ",", "character between fields"),
      {.name = "header",
       .initial = std::string("auto"),
       .doc = "whether the first line names the columns; auto: it holds no number, or a text above "
              "a number",
       .choices = {"auto", "yes", "no"}},
      {.name = "missing",
       .initial = std::string("refuse"),
       .doc =
           "inputs that are empty, ?, NA, N/A, NaN, null or none; mean: of their column, 0 after "
           "scaling",
       .choices = {"refuse", "mean"}},
      {.name = "classes",
       .initial = std::int64_t{0},
       .doc = "number of classes, the target being a label below it or a word; 0: regression, or "
              "as many as there are words",
       .min = 0,
       .max = 1 << 24},
      text("class_names", "",
           "words of the target in the order of the classes, with commas between; empty: those of "
           "'file', sorted")};
  return {.name = "csv",
          .doc = "a table in a CSV file; columns are scaled to mean 0, deviation 1",
          .settings =
              joined({own, split_settings(), scaling_settings({}, {}), target_scaling_settings()}),
          .open = open_csv};
}

}  // namespace tutti::data
