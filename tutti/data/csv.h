// SPDX-License-Identifier: Apache-2.0
// Tables in CSV files (RFC 4180): some columns are predicted from the others.
#pragma once

#include "tutti/data/dataset.h"
#include "tutti/data/mapped_file.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::data {

struct CsvFormat {
  enum Header { automatic, yes, no };
  char separator = ',';
  Header header = automatic;
};

// The fields of a file as texts, without the quotes around them.
class CsvTable {
 public:
  // Reads a whole file in UTF-8. Quoted fields may hold separators, ends of lines and, doubled,
  // quotes; blank lines count for nothing. With an automatic header, the first line is a header
  // when it holds no number, or a text above a number. Throws Error, naming file and line.
  explicit CsvTable(const std::filesystem::path& path, const CsvFormat& format = {});

  const std::string& file() const { return path_; }
  bool has_header() const { return has_header_; }
  // Names from the header; "0", "1" … without one.
  const std::vector<std::string>& columns() const { return columns_; }
  std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  std::string_view field(std::int64_t row, std::size_t column) const {
    return fields_[static_cast<std::size_t>(row) * columns_.size() + column];
  }
  // "t.csv: line 3, column 1 (price)", for messages.
  std::string place(std::int64_t row, std::size_t column) const;

 private:
  MappedFile bytes_;
  std::deque<std::string> unescaped_;  // fields in which quotes were doubled
  std::string path_;
  bool has_header_ = false;
  std::vector<std::string> columns_;
  std::vector<std::string_view> fields_;  // rows × columns
  std::vector<std::int64_t> lines_;       // the line at which each row begins
};

// The number in a field; nothing when the field holds no number, or one that is not finite.
std::optional<double> number_in(std::string_view field);
// Whether a field stands for an unknown value: nothing, "?", "NA", "N/A", "NaN", "null" or "none".
bool is_missing(std::string_view field);

// The fields of a single line, read as in a file.
std::vector<std::string> csv_fields(const std::string& line, char separator = ',');
// A line of these fields, each in quotes.
std::string csv_line(const std::vector<std::string>& fields);

// The format of the files, from the settings of the data set.
CsvFormat csv_format(const Settings& settings);

// The scaled inputs of a table to predict for, rows × inputs. The columns of the table are those of
// the training file, or only its inputs; targets need not be known.
std::vector<float> csv_inputs(const CsvTable& table, const Settings& settings,
                              const Scaling& scaling, std::int64_t inputs);

DatasetEntry csv();

}  // namespace tutti::data
