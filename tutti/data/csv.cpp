// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/csv.h"

#include "tutti/core/nearest.h"
#include "tutti/data/mapped_file.h"
#include "tutti/data/split.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <string_view>

namespace tutti::data {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return text;
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t end = line.find(separator);
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

std::optional<double> number_in(std::string_view field) {
  if (field.starts_with('+')) field.remove_prefix(1);
  double number = 0;
  const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), number);
  if (failure != std::errc() || end != field.data() + field.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

// The columns of the first line: its names, or numbers when it is data already.
std::vector<std::string> columns_of(const std::vector<std::string_view>& first_line,
                                    bool& is_header) {
  is_header = !std::all_of(first_line.begin(), first_line.end(),
                           [](std::string_view field) { return number_in(field).has_value(); });
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < first_line.size(); ++i)
    columns.push_back(is_header ? std::string(first_line[i]) : std::to_string(i));
  return columns;
}

void append_row(CsvTable& table, const std::vector<std::string_view>& fields,
                const std::string& where) {
  if (fields.size() != table.columns.size())
    throw Error("{}: {} columns, expected {} as in the first line", where, fields.size(),
                table.columns.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::optional<double> number = number_in(fields[i]);
    if (!number)
      throw Error("{}, column {} ({}): '{}' is no number; every field must be one", where, i,
                  table.columns[i], fields[i]);
    table.values.push_back(*number);
  }
}

// The column that a name, or a number counted from 0 or, below 0, from the end, stands for.
std::size_t column_of(const CsvTable& table, std::string_view word, const std::string& file) {
  const std::vector<std::string>& columns = table.columns;
  const auto named = std::find(columns.begin(), columns.end(), word);
  if (named != columns.end()) return static_cast<std::size_t>(named - columns.begin());
  const auto count = static_cast<std::int64_t>(columns.size());
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool is_number = failure == std::errc() && end == word.data() + word.size();
  if (is_number && number >= -count && number < count)
    return static_cast<std::size_t>(number < 0 ? count + number : number);
  throw Error("{}: there is no column '{}'{}", file, word,
              is_number ? fmt::format(", expected {} to {}", -count, count - 1)
                        : suggestion(word, columns));
}

std::vector<std::size_t> columns_named(const CsvTable& table, const std::string& words,
                                       const std::string& file) {
  std::vector<std::string_view> names;
  split_fields(words, ',', names);
  std::vector<std::size_t> columns;
  for (const std::string_view name : names)
    if (!name.empty()) columns.push_back(column_of(table, name, file));
  return columns;
}

// Which columns are predicted, and from which.
struct Roles {
  std::vector<std::size_t> inputs, targets;
};

Roles roles_of(const CsvTable& table, const Settings& settings, const std::string& file) {
  Roles roles{{}, columns_named(table, settings.text("target"), file)};
  if (roles.targets.empty()) throw Error("'target' is empty, expected a column of {}", file);
  if (settings.integer("classes") > 0 && roles.targets.size() > 1)
    throw Error("'target' names {} columns, but with 'classes' the label is one",
                roles.targets.size());
  const std::vector<std::size_t> ignored = columns_named(table, settings.text("ignore"), file);
  const auto has = [](const std::vector<std::size_t>& columns, std::size_t column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (!has(roles.targets, i) && !has(ignored, i)) roles.inputs.push_back(i);
  if (roles.inputs.empty()) throw Error("{}: no column is left to predict from", file);
  return roles;
}

class Csv : public Dataset {
 public:
  Csv(const CsvTable& table, const std::vector<std::int64_t>& members, const Roles& roles,
      std::int64_t class_count, const Scaling& scaled_by, const std::string& file) {
    name = "csv";
    count = static_cast<std::int64_t>(members.size());
    sample_shape = {static_cast<std::int64_t>(roles.inputs.size())};
    classes = class_count;
    if (classes == 0) target_shape = {static_cast<std::int64_t>(roles.targets.size())};
    scaled_by.require_fit(sample_shape);
    for (const std::int64_t member : members) {
      const double* row =
          table.values.data() + member * static_cast<std::int64_t>(table.columns.size());
      for (std::size_t i = 0; i < roles.inputs.size(); ++i)
        x_.push_back(scaled_by(row[roles.inputs[i]], static_cast<std::int64_t>(i)));
      for (const std::size_t column : roles.targets) {
        const double target = row[column];
        if (classes > 0 &&
            !(target >= 0 && target < static_cast<double>(classes) && target == std::floor(target)))
          throw Error("{}: row {}, column {} ({}): {} is no label, expected 0 to {}", file, member,
                      column, table.columns[column], target, classes - 1);
        targets_.push_back(static_cast<float>(target));
      }
    }
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    const std::int64_t inputs = sample_shape[0], outputs = classes > 0 ? 1 : target_shape[0];
    dispatch_float(into.dtype, [&](auto zero) {
      using T = decltype(zero);
      auto* x = static_cast<T*>(into.x);
      auto* targets = static_cast<T*>(into.targets);
      for (std::size_t i = 0; i < indices.size(); ++i) {
        check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
        if (x != nullptr) x = std::copy_n(x_.data() + indices[i] * inputs, inputs, x);
        const float* own = targets_.data() + indices[i] * outputs;
        if (classes > 0 && into.labels != nullptr) into.labels[i] = static_cast<std::int32_t>(*own);
        if (classes == 0 && targets != nullptr) targets = std::copy_n(own, outputs, targets);
      }
    });
  }

 private:
  std::vector<float> x_;        // count × inputs, scaled
  std::vector<float> targets_;  // count × targets, or labels
};

std::unique_ptr<Dataset> open_csv(const Settings& settings, Split split) {
  const std::string &train = settings.text("file"), &test = settings.text("test_file");
  const std::string& separator = settings.text("separator");
  if (separator.size() != 1)
    throw Error("'separator' is \"{}\", expected one character", separator);
  return open_scaled(settings, split, [&](Split part, const Scaling& scaling) {
    const std::string& file = part == Split::test && !test.empty() ? test : train;
    const CsvTable table = read_csv(file, separator[0]);
    std::vector<std::int64_t> members(static_cast<std::size_t>(table.rows()));
    std::iota(members.begin(), members.end(), 0);
    if (test.empty()) members = members_of(table.rows(), settings, part);
    return std::make_unique<Csv>(table, members, roles_of(table, settings, file),
                                 settings.integer("classes"), scaling, file);
  });
}

Setting text(std::string name, std::string initial, std::string doc, bool required = false) {
  return {.name = std::move(name),
          .initial = std::move(initial),
          .doc = std::move(doc),
          .required = required};
}

}  // namespace

CsvTable read_csv(const fs::path& path, char separator) {
  const MappedFile file(path);
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);  // the mark of UTF-8
  CsvTable table;
  std::vector<std::string_view> fields;
  for (std::int64_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text_of_line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trimmed(text_of_line).empty()) continue;
    split_fields(text_of_line, separator, fields);
    bool is_header = false;
    if (table.columns.empty()) table.columns = columns_of(fields, is_header);
    if (!is_header) append_row(table, fields, fmt::format("{}: line {}", path.string(), line));
  }
  if (table.values.empty()) throw Error("{}: the file holds no rows of numbers", path.string());
  return table;
}

std::vector<double> inputs_of(const CsvTable& table, const Settings& settings, std::int64_t inputs,
                              const std::string& file) {
  const std::size_t columns = table.columns.size();
  if (static_cast<std::int64_t>(columns) == inputs) return table.values;
  const Roles roles = roles_of(table, settings, file);
  if (static_cast<std::int64_t>(roles.inputs.size()) != inputs)
    throw Error("{} has {} columns to predict from, but the network was trained on {}", file,
                roles.inputs.size(), inputs);
  std::vector<double> values;
  for (std::size_t row = 0; row < table.values.size(); row += columns)
    for (const std::size_t column : roles.inputs) values.push_back(table.values[row + column]);
  return values;
}

DatasetEntry csv() {
  const std::vector<Setting> own = {
      text("file", "", "CSV file, with or without a header", true),
      text("test_file", "", "CSV file of test samples; empty: a fraction of 'file'"),
      text("target", "-1",
           "column to predict, by name or number (from 0; below 0 from the end); several with "
           "commas between"),
      text("ignore", "", "columns to leave out, in the same way"),
      text("separator", ",", "between fields"),
      {.name = "classes",
       .initial = std::int64_t{0},
       .doc = "number of classes, the target being a label below it; 0: regression",
       .min = 0,
       .max = 1 << 24}};
  return {.name = "csv",
          .doc = "a table of numbers in a CSV file; columns are scaled to mean 0, deviation 1",
          .settings = joined({own, split_settings(), scaling_settings({}, {})}),
          .open = open_csv};
}

}  // namespace tutti::data
