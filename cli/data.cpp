// SPDX-License-Identifier: Apache-2.0
// tutti data: lists the data sets, and fetches those that are not embedded.
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "tutti/data/dataset.h"
#include "tutti/data/fetch.h"
#include "tutti/data/folder.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace tutti::cli {
namespace {

struct Fetchable {
  std::string name;
  // The folder in which the data set looks for its files.
  std::filesystem::path (*folder)() = nullptr;
  void (*fetch)(const std::filesystem::path& folder, const data::Log& log) = nullptr;
};

List<Fetchable> fetchables() {
  return {"data set to fetch",
          {{"mnist", data::mnist_folder, data::fetch_mnist},
           {"cifar10", data::cifar10_folder, data::fetch_cifar10}}};
}

struct DataArguments {
  std::string name, folder;
  CLI::App* get = nullptr;
};

int list_all() {
  std::vector<std::vector<std::string>> rows;
  for (const data::DatasetEntry& entry : data::datasets()) rows.push_back({entry.name, entry.doc});
  fmt::print("{}data that was fetched is kept in {}\n", in_columns(rows),
             data::data_folder().string());
  return 0;
}

int get(const DataArguments& options) {
  const Fetchable wanted = as_usage([&] { return fetchables().find(options.name); });
  Terminal terminal;
  wanted.fetch(options.folder.empty() ? wanted.folder() : std::filesystem::path(options.folder),
               [&](const std::string& line) { terminal.print(line); });
  if (!options.folder.empty())
    terminal.print(fmt::format("use it with: --set data.name={} --set data.folder={}", wanted.name,
                               shell_quoted(options.folder)));
  return 0;
}

std::function<int()> add_data(CLI::App& app) {
  const auto options = std::make_shared<DataArguments>();
  app.require_subcommand(0, 1);
  app.add_subcommand("list", "the data sets there are (the same without a word)");
  options->get = app.add_subcommand("get", "fetch a data set and verify its checksums");
  options->get->add_option("name", options->name, "which: mnist or cifar10")
      ->type_name("NAME")
      ->required();
  options->get
      ->add_option("--folder", options->folder,
                   "where to put it (none: where the data set looks, under $TUTTI_DATA or "
                   "~/.local/share/tutti)")
      ->type_name("FOLDER");
  options->get->footer("Examples:\n  tutti data get mnist\n  tutti data get cifar10");
  app.footer(R"(Examples:
  tutti data list
  tutti data get mnist)");
  return [options] { return options->get->parsed() ? get(*options) : list_all(); };
}

}  // namespace

const Command data_command{"data", "list data sets, fetch MNIST and CIFAR-10", add_data};

}  // namespace tutti::cli
