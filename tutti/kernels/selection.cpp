// SPDX-License-Identifier: Apache-2.0
#include "tutti/kernels/selection.h"

#include "tutti/core/cores.h"
#include "tutti/core/usual_rates.h"
#include "tutti/kernels/trial.h"
#include "tutti/ops/convolution.h"

#include <algorithm>
#include <mutex>

namespace tutti {
namespace {

// A variant replaces the choice of the rule only where it is faster by this factor, since times
// vary on machines that others use at the same time.
constexpr double margin = 1.05;
// A variant is not run again when its first run takes this many times as long as the best variant.
constexpr double hopeless = 3;

std::string sizes_of(const Graph& graph, const Node& node) {
  std::string text = node.op->name;
  for (const Type& type : graph.types(node.inputs)) text += " " + to_string(type.shape);
  for (const auto& [name, value] : node.settings.values())
    if (name == "stride" || name == "padding" || name == "dilation" || name == "groups")
      text += fmt::format(" {}={}", name, to_string(value));
  return text;
}

const VariantTime* find(const std::vector<VariantTime>& times, const std::string& variant) {
  for (const VariantTime& time : times)
    if (time.variant == variant) return &time;
  return nullptr;
}

class Chooser {
 public:
  Chooser(const KernelTable& table, const Selection& selection, const Graph& graph,
          const Node& node)
      : table_(table), selection_(selection), graph_(graph), node_(node) {
    for (const Implementation* one : table.supporting(graph, node))
      candidates_.push_back({one, -1});
    neighbours_ = neighbour_layouts(table, graph, node);
  }

  VariantChoice choose() {
    VariantChoice choice{.node = node_.name, .sizes = sizes_of(graph_, node_)};
    choice.rule = choice.variant = by_rule();
    if (selection_.mode == Selection::Mode::rule) return choice;
    const std::string key = variant_key(graph_, node_, selection_.threads);
    // Ranks of one process take turns: the first one measures, the others read its times from the
    // file.
    static std::mutex measuring;
    const std::lock_guard lock(measuring);
    const VariantTimes cache =
        selection_.known ? *selection_.known : read_variant_cache(selection_.cache_file);
    if (const auto known = cache.find(key); known != cache.end()) choice.times = known->second;
    if (selection_.mode == Selection::Mode::measure && measure(choice)) {
      choice.measured = true;
      if (!selection_.cache_file.empty())
        append_variant_times(selection_.cache_file, key, choice.times);
    }
    choice.variant = fastest(choice);
    return choice;
  }

 private:
  struct Candidate {
    const Implementation* implementation;
    std::int64_t bytes;  // scratch memory; -1: not computed yet
  };

  std::int64_t bytes_of(Candidate& candidate) {
    if (candidate.bytes < 0)
      candidate.bytes =
          Trial(table_, graph_, node_, *candidate.implementation, neighbours_).scratch_bytes();
    return candidate.bytes;
  }
  bool fits(Candidate& candidate) {
    return selection_.workspace_bytes == std::numeric_limits<std::int64_t>::max() ||
           bytes_of(candidate) <= selection_.workspace_bytes;
  }

  // The variant that the table takes by itself, or else the first in its order that keeps the
  // workspace limit.
  std::string by_rule() {
    const Implementation* first = table_.find(graph_, node_);
    for (Candidate& candidate : candidates_)
      if (candidate.implementation == first && fits(candidate)) return first->name;
    for (Candidate& candidate : candidates_)
      if (fits(candidate)) return candidate.implementation->name;
    throw Error(
        "[{}] no variant of {} computes within {} bytes of scratch memory (kernels.workspace)",
        node_.op->name, sizes_of(graph_, node_), selection_.workspace_bytes);
  }

  // Measures the variants whose time is not known yet, the rule's choice first. Returns false when
  // all times were known.
  bool measure(VariantChoice& choice) {
    std::stable_partition(candidates_.begin(), candidates_.end(), [&](const Candidate& one) {
      return one.implementation->name == choice.rule;
    });
    double best = std::numeric_limits<double>::infinity();
    for (const VariantTime& time : choice.times) best = std::min(best, time.ms);
    bool any = false;
    for (Candidate& candidate : candidates_) {
      const std::string& name = candidate.implementation->name;
      if (find(choice.times, name) != nullptr || !fits(candidate)) continue;
      Trial trial(table_, graph_, node_, *candidate.implementation, neighbours_);
      const double ms = trial.measure_ms({.threads = selection_.threads}, hopeless * best);
      choice.times.push_back({name, ms, trial.scratch_bytes()});
      best = std::min(best, ms);
      any = true;
    }
    return any;
  }

  std::string fastest(const VariantChoice& choice) {
    const VariantTime* rule = find(choice.times, choice.rule);
    const VariantTime* best = rule;
    for (Candidate& candidate : candidates_) {
      const VariantTime* time = find(choice.times, candidate.implementation->name);
      if (time == nullptr || time->scratch_bytes > selection_.workspace_bytes) continue;
      const double slack = best == rule ? margin : 1;
      if (best == nullptr || time->ms * slack < best->ms) best = time;
    }
    return best == nullptr ? choice.rule : best->variant;
  }

  const KernelTable& table_;
  const Selection& selection_;
  const Graph& graph_;
  const Node& node_;
  std::vector<Candidate> candidates_;
  NodeLayouts neighbours_;
};

// The variant that the node names, or else the variant that the recipe names, if it supports the
// node; else nullptr.
const Implementation* named_variant(const Selection& selection, const Node& node,
                                    const std::vector<const Implementation*>& able) {
  const std::string& own = node.settings.text("variant");
  for (const Implementation* one : able)
    if (one->name == (own == "auto" ? selection.convolution : own)) return one;
  return nullptr;
}

// Throws where a variant that was asked for by name needs more scratch memory than it may have.
void require_workspace(const KernelTable& table, const Selection& selection, const Graph& graph,
                       const Node& node, const Implementation& named) {
  if (selection.workspace_bytes == std::numeric_limits<std::int64_t>::max()) return;
  const std::int64_t bytes =
      Trial(table, graph, node, named, neighbour_layouts(table, graph, node)).scratch_bytes();
  if (bytes > selection.workspace_bytes)
    throw Error(
        "[{}] variant '{}' needs {} bytes of scratch memory for {}, but kernels.workspace allows "
        "{}: raise it, {}",
        node.op->name, named.name, bytes, sizes_of(graph, node), selection.workspace_bytes,
        selection.micro_batches ? "or name no variant"
                                : "name no variant, or set kernels.micro_batches");
}

// A graph of the node alone, on only `samples` samples of its batch.
Graph with_samples(const Graph& graph, const Node& node, std::int64_t samples) {
  Graph part;
  std::vector<ValueId> inputs;
  for (std::size_t k = 0; k < node.inputs.size(); ++k) {
    Type type = graph.type(node.inputs[k]);
    if (k == 0 || node.op == &ops::convolution_grad_weight) type.shape[0] = samples;
    inputs.push_back(part.add_value("", type));
  }
  part.add(*node.op, inputs, node.settings);
  return part;
}

// The assumed time of a variant that was not measured: multiply–adds at a fixed rate, and a little
// for each call. Only the order of the variants matters.
double modelled_seconds(const Graph& graph, const Node& node, const std::string& variant) {
  const Cost cost =
      node.op->cost(node.settings, graph.types(node.inputs), graph.types(node.outputs));
  const double slowness = variant == "onednn-winograd" ? 0.5 : variant == "onednn" ? 1 : 3;
  return usual::convolution_call_seconds +
         cost.multiply_adds * slowness / usual::peak_multiply_adds_per_second;
}

std::string choice_key(const Selection& selection, const Graph& graph, const Node& node) {
  std::string key = sizes_of(graph, node);
  if (selection.precision != "f32") key += " precision=" + selection.precision;
  if (selection.workspace_bytes != std::numeric_limits<std::int64_t>::max())
    key += fmt::format(" workspace={}", selection.workspace_bytes);
  return key;
}

// The variant that a checkpoint names for this key, if it supports the node; else "".
std::string given_variant(const Selection& selection, const std::string& key,
                          const std::vector<const Implementation*>& able) {
  if (!selection.choices) return "";
  Choices& choices = *selection.choices;
  const auto found = choices.given.find(key);
  if (found == choices.given.end()) return "";
  for (const Implementation* one : able)
    if (one->name == found->second) return choices.made[key] = one->name;
  choices.lacking.push_back(fmt::format("{}: {}", key, found->second));
  choices.given.erase(found);
  return "";
}

// Whether `samples` is the batch halved any number of times. Other sizes are not tried, so that few
// sizes need to be measured.
bool is_cut_size(std::int64_t batch, std::int64_t samples) {
  while (batch > samples) batch = (batch + 1) / 2;
  return batch == samples;
}

std::vector<FragmentOption> fragment_options(const KernelTable& table, const Selection& selection,
                                             const Graph& graph, const Node& node,
                                             std::int64_t samples) {
  if (!is_cut_size(graph.shape(node.inputs[0])[0], samples)) return {};
  const Graph part = with_samples(graph, node, samples);
  const Node& only = part.nodes[0];
  const std::vector<const Implementation*> able = table.supporting(part, only);
  const Implementation* named = named_variant(selection, only, able);
  if (named == nullptr && only.settings.text("variant") != "auto") return {};
  std::vector<VariantTime> times;
  if (selection.mode != Selection::Mode::rule && named == nullptr)
    times = choose_variant(table, selection, part, only).times;
  const NodeLayouts neighbours = neighbour_layouts(table, part, only);
  std::vector<FragmentOption> options;
  for (const Implementation* one : able) {
    if (named != nullptr && one != named) continue;
    const VariantTime* known = find(times, one->name);
    options.push_back({one->name,
                       known != nullptr ? known->ms / 1e3 : modelled_seconds(part, only, one->name),
                       Trial(table, part, only, *one, neighbours).scratch_bytes()});
  }
  return options;
}

}  // namespace

Selection::Mode selection_mode(const std::string& name) {
  if (name == "rule") return Selection::Mode::rule;
  if (name == "measure") return Selection::Mode::measure;
  check(name == "cache", "the setting declares its choices");
  return Selection::Mode::cache;
}

std::string variant_key(const Graph& graph, const Node& node, int threads) {
  return fmt::format("{} threads={} cpu={}", sizes_of(graph, node), threads, cpu_name());
}

VariantChoice choose_variant(const KernelTable& table, const Selection& selection,
                             const Graph& graph, const Node& node) {
  return Chooser(table, selection, graph, node).choose();
}

Backend backend_of(const KernelTable& table, const Selection& selection) {
  Backend backend = backend_of(table);
  backend.variant = [&table, selection](const Graph& graph, const Node& node) -> std::string {
    const auto able = table.supporting(graph, node);
    if (const Implementation* named = named_variant(selection, node, able)) {
      require_workspace(table, selection, graph, node, *named);
      return named->name;
    }
    const std::string& own = node.settings.text("variant");
    // A named variant that does not support the node is refused when its kernel is made.
    if (able.empty() || own != "auto") return own;
    const std::string key = choice_key(selection, graph, node);
    if (const std::string given = given_variant(selection, key, able); !given.empty()) return given;
    const VariantChoice choice = choose_variant(table, selection, graph, node);
    if (selection.chosen) selection.chosen(choice);
    if (selection.choices) selection.choices->made[key] = choice.variant;
    return choice.variant;
  };
  if (selection.precision != "f32") {
    if (table.require_precision == nullptr)
      throw Error("kernels.precision = \"{}\" is not known to back end '{}'; use f32",
                  selection.precision, table.name);
    table.require_precision(selection.precision);
  }
  backend.precision = selection.precision;
  if (selection.precision == "fp16") backend.stored = table.narrowed;
  backend.workspace_bytes = selection.workspace_bytes;
  if (selection.micro_batches)
    backend.fragment_options = [&table, selection](const Graph& graph, const Node& node,
                                                   std::int64_t samples) {
      return fragment_options(table, selection, graph, node, samples);
    };
  return backend;
}

}  // namespace tutti
