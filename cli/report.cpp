// SPDX-License-Identifier: Apache-2.0
// tutti report: the records of one or several runs as a page to look at.
#include "cli/commands.h"
#include "cli/terminal.h"
#include "tutti/core/output_file.h"
#include "tutti/report/page.h"
#include "tutti/report/read_record.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace tutti::cli {
namespace {

struct ReportArguments {
  std::vector<std::string> records;
  std::string output = "report.html";
};

int run_report(const ReportArguments& options) {
  const auto [runs, left_out] = report::read_records(options.records);
  if (runs.empty())
    throw Error("{}{}", left_out.front(),
                left_out.size() == 1
                    ? ""
                    : fmt::format("; nor is any other of {} paths a record", left_out.size()));
  for (const std::string& why : left_out) fmt::print(stderr, "tutti: left out: {}\n", why);
  for (const report::Run& read : runs) {
    std::error_code not_there;
    if (std::filesystem::equivalent(read.path, options.output, not_there))
      throw UsageError("the page would replace the record {}: name another --output", read.path);
  }
  const std::string page = report::page(runs);
  OutputFile file(options.output, OutputFile::Existing::replace);
  file.write(page.data(), static_cast<std::int64_t>(page.size()));
  Terminal().print("report " + options.output);
  return 0;
}

std::function<int()> add_report(CLI::App& app) {
  const auto options = std::make_shared<ReportArguments>();
  app.add_option("records", options->records, "records of runs (JSON lines), or their folders")
      ->required()
      ->type_name("RECORD");
  app.add_option("-o,--output", options->output, "the page to write")
      ->type_name("FILE")
      ->capture_default_str();
  app.footer(
      R"(The page shows loss and accuracy over steps, samples or time, several runs in the same charts, and
where their settings differ. It is one file that opens in any browser, also while a run goes on.
Folders without a record are named and left out.

Examples:
  tutti report runs/digits/record.jsonl
  tutti report runs/* -o compared.html)");
  return [options] { return run_report(*options); };
}

}  // namespace

const Command report_command{"report", "curves and settings of runs as one HTML page", add_report};

}  // namespace tutti::cli
