// SPDX-License-Identifier: Apache-2.0
// tutti list: prints everything one can choose from, with its settings, from the declarations in
// the lists.
#include "cli/columns.h"
#include "cli/commands.h"
#include "cli/job_options.h"
#include "cli/shipped.h"
#include "tutti/comm/collectives/collective.h"
#include "tutti/kernels/backends.h"
#include "tutti/recipe/tables.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace tutti::cli {
namespace {

struct Entry {
  std::string name, doc;
  std::vector<Setting> settings = {};
  std::optional<ShippedFile> file = std::nullopt;
};

struct Kind {
  std::string name, doc;
  List<Entry> entries;
};

struct ListArguments {
  std::string kind, name;
};

Entry entry_of(const ShippedFile& file) { return {file.name, file.doc, {}, file}; }
Entry entry_of(const ops::OpEntry& entry) {
  return {entry.name, entry.op->doc, entry.op->settings};
}
template <class T>
Entry entry_of(const T& entry) {
  if constexpr (requires { entry.settings; })
    return {entry.name, entry.doc, entry.settings};
  else
    return {entry.name, entry.doc};
}

template <class T>
Kind kind_of(std::string name, std::string doc, const List<T>& list) {
  std::vector<Entry> entries;
  for (const T& entry : list) entries.push_back(entry_of(entry));
  return {std::move(name), std::move(doc), {list.kind(), std::move(entries)}};
}

Kind tables_of(const Lists& lists) {
  const std::map<std::string, std::string> docs = {
      {"model", "the network; further keys are those of the model"},
      {"data", "the data set; further keys are its own"},
      {"train", "length, batch, seed, files of the run"},
      {"optimizer", "rule and learning rate; further keys are those of rule and schedule"},
      {"partition", "how the work is cut over ranks"},
      {"exchange", "how ranks train together; further keys are those of the entries"},
      {"codec", "in what form gradients travel; further keys are the codec's own"},
      {"memory", "what a rank may use, and which activations are computed again"},
      {"kernels", "how operators are computed"},
      {"machine", "what computes"},
      {"simulation", "the machine of --simulate, and of ranks on a virtual clock"}};
  std::vector<Entry> entries;
  for (const std::string& table : recipe_tables()) {
    const auto doc = docs.find(table);
    entries.push_back(
        {table, doc == docs.end() ? "" : doc->second, declared_settings(lists, table)});
  }
  return {"tables", "what a recipe may hold: [TABLE] key = value", {"table", std::move(entries)}};
}

Kind variants() {
  const KernelTable cpu = cpu_kernels();
  std::vector<Entry> entries;
  for (const Implementation& one : cpu.by_op.at("convolution"))
    entries.push_back({one.name, one.doc});
  return {"variants", "[kernels] convolution", {"variant", std::move(entries)}};
}

List<Kind> kinds() {
  const Lists lists = default_lists();
  return {"kind",
          {kind_of("recipes", "tutti train NAME", shipped_recipes()),
           kind_of("machines", "tutti train --simulate --machine NAME", shipped_machines()),
           tables_of(lists),
           kind_of("models", "[model] name", lists.models),
           kind_of("layers", "[[model.layers]] type", lists.layers),
           kind_of("losses", "[model] loss", lists.losses),
           kind_of("datasets", "[data] name", lists.datasets),
           kind_of("rules", "[optimizer] rule", lists.rules),
           kind_of("schedules", "[optimizer] schedule", lists.schedules),
           kind_of("local_rules", "[optimizer] variance_reduction", lists.local_rules),
           kind_of("gates", "[exchange] gate", lists.gates),
           kind_of("triggers", "[exchange] trigger", lists.triggers),
           kind_of("stores", "[exchange] store", lists.stores),
           kind_of("payloads", "[exchange] payload", lists.payloads),
           kind_of("codecs", "[codec] name", lists.codecs),
           kind_of("merges", "[exchange] merge", lists.merges),
           kind_of("allreduces", "[exchange] allreduce", lists.allreduces),
           kind_of("reduce_scatters", "[exchange] reduce_scatter", lists.reduce_scatters),
           kind_of("allgathers", "[exchange] allgather", lists.allgathers),
           kind_of("reduces", "tutti bench reduce", reduces()),
           kind_of("broadcasts", "tutti bench broadcast", broadcasts()),
           kind_of("all_to_alls", "tutti bench all-to-all", all_to_alls()),
           kind_of("neighbour_exchanges", "tutti bench neighbour-exchange", neighbour_exchanges()),
           kind_of("passes", "rewrites of the graph, in order; --without-pass leaves one out",
                   lists.passes),
           kind_of("backends", "[machine] backend", backends()),
           variants(),
           kind_of("operators", "what graphs are made of", lists.operators)}};
}

// Lower bounds of an allreduce (D06); tutti bench prints their values on this machine.
constexpr const char* bounds_text =
    R"(P ranks that send one message at a time, each of latency L and G seconds per byte, sum vectors of m bytes in
no less than L log2 P, nor m G, nor, where no sum is computed twice, L log2 P + 2 m G (P−1)/P. rabenseifner
meets that term of m G and takes twice the latency. tutti bench allreduce shows the bound beside times.
)";

void print_kinds(const List<Kind>& all) {
  for (const Kind& kind : all)
    fmt::print("{}: {}\n    {}\n", kind.name, kind.doc, fmt::join(kind.entries.names(), ", "));
}

void print_entries(const Kind& kind) {
  std::vector<std::vector<std::string>> rows;
  for (const Entry& entry : kind.entries)
    rows.push_back(entry.file ? std::vector{entry.name, entry.file->folder, entry.doc}
                              : std::vector{entry.name, entry.doc});
  fmt::print("{}: {}\n{}", kind.name, kind.doc, in_columns(rows));
}

// Prints the fastest variants that tutti tune found on this machine.
void print_choices() {
  remark_on_caches();
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, times] : read_variant_cache(default_variant_cache())) {
    const auto fastest =
        std::min_element(times.begin(), times.end(),
                         [](const VariantTime& a, const VariantTime& b) { return a.ms < b.ms; });
    if (fastest != times.end())
      rows.push_back({fastest->variant, fmt::format("{:.3g} ms", fastest->ms), key});
  }
  if (rows.empty())
    fmt::print("\nNothing is measured yet: see tutti tune --help\n");
  else
    fmt::print("\nFastest where measured ({})\n{}", default_variant_cache(), in_columns(rows));
}

// The columns of a setting: describe() separates what a user writes from its meaning by three
// blanks.
std::vector<std::string> row_of(const Setting& setting) {
  const std::string text = describe(setting);
  const std::size_t blanks = text.find("   ");
  return {text.substr(0, blanks), text.substr(std::min(text.size(), blanks + 3))};
}

void print_entry(const Entry& entry) {
  if (entry.file) return fmt::print("{}", entry.file->text);
  std::vector<std::vector<std::string>> rows;
  for (const Setting& setting : entry.settings) rows.push_back(row_of(setting));
  if (rows.empty()) rows.push_back({"(no settings)"});
  fmt::print("{}: {}\n{}", entry.name, entry.doc, in_columns(rows));
}

// Finds a kind by its name or by the beginning of its name: "data" is enough for "datasets".
const Kind& kind_named(const List<Kind>& all, const std::string& name) {
  const Kind* only = nullptr;
  for (const Kind& kind : all) {
    if (!kind.name.starts_with(name)) continue;
    if (only != nullptr) return all.find(name);
    only = &kind;
  }
  return only == nullptr ? all.find(name) : *only;
}

const Entry& entry_named(const Kind& kind, const std::string& name) {
  for (const Entry& entry : kind.entries)
    if (entry.file && is_called(*entry.file, name)) return entry;
  return kind.entries.find(name);
}

int run_list(const ListArguments& options) {
  const List<Kind> all = kinds();
  if (options.kind.empty()) {
    print_kinds(all);
    return 0;
  }
  return as_usage([&] {
    const Kind& kind = kind_named(all, options.kind);
    if (!options.name.empty()) {
      print_entry(entry_named(kind, options.name));
      return 0;
    }
    print_entries(kind);
    if (kind.name == "variants") print_choices();
    if (kind.name == "allreduces") fmt::print("\n{}", bounds_text);
    return 0;
  });
}

std::function<int()> add_list(CLI::App& app) {
  const auto options = std::make_shared<ListArguments>();
  app.add_option("kind", options->kind,
                 "recipes, models, layers, datasets, rules … (none: all kinds)")
      ->type_name("KIND");
  app.add_option("name", options->name,
                 "an entry, to see its settings; of a recipe or a machine its file")
      ->type_name("NAME");
  app.footer(R"(Examples:
  tutti list
  tutti list recipes             what tutti train NAME can train
  tutti list recipes mnist > my.toml
  tutti list rules
  tutti list rules adam          settings with defaults and ranges
  tutti list data cifar10
  tutti list tables train        what [train] of a recipe may hold)");
  return [options] { return run_list(*options); };
}

}  // namespace

const Command list_command{"list", "what there is to choose from, with settings and defaults",
                           add_list};

}  // namespace tutti::cli
