// SPDX-License-Identifier: Apache-2.0
// Tables of numbers in CSV files: some columns are predicted from the others.
#pragma once

#include "tutti/data/dataset.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::data {

struct CsvTable {
  std::vector<std::string> columns = {};  // names from the header; "0", "1" … without one
  std::vector<double> values = {};        // rows × columns

  std::int64_t rows() const { return static_cast<std::int64_t>(values.size() / columns.size()); }
};

// Reads a whole file. The first line is a header unless all of it are numbers; blank lines count
// for nothing, quotes around a field are dropped. An Error names file, line and column.
CsvTable read_csv(const std::filesystem::path& path, char separator = ',');

// What is predicted from in a table whose target need not be known: its columns are those of
// training, or the inputs alone. rows × inputs.
std::vector<double> inputs_of(const CsvTable& table, const Settings& settings, std::int64_t inputs,
                              const std::string& file);

DatasetEntry csv();

}  // namespace tutti::data
