// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/stores/gather_weights.h"

#include "tutti/exchange/blocks.h"
#include "tutti/graph/node_order.h"
#include "tutti/graph/op.h"
#include "tutti/ops/allgather.h"
#include "tutti/ops/join.h"
#include "tutti/ops/section.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tutti {
namespace {

// Neighbouring ranges that are gathered together.
struct Whole {
  std::int64_t offset = 0, end = 0;
  std::vector<Block> blocks;
  std::string name;  // of its first range
};

// An input of a node.
struct Use {
  std::size_t node = 0, input = 0;
};

// One gathering of a whole, for one or several nodes that read its parameters.
struct Gathering {
  std::size_t whole = 0;
  NodeId needed = 0;                              // the first node that reads it
  std::map<ValueId, std::vector<Use>> uses = {};  // who reads it, by parameter
  std::vector<ValueId> pieces = {};               // its gathered blocks
};

class Gatherer {
 public:
  Gatherer(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
           const std::string& axis)
      : graph_(graph), order_(graph), table_(table), dtype_(dtype), axis_(axis) {
    const auto any_axis = [&](const Range&) { return axis; };
    for (const Block& block : blocks_of(table, dtype, closing, any_axis)) {
      if (wholes_.empty() || wholes_.back().offset != block.whole_offset)
        wholes_.push_back({block.whole_offset, block.whole_end, {}, block.first});
      wholes_.back().blocks.push_back(block);
    }
    find_parameters(weight_layout(table, dtype, closing));
  }

  void run() {
    find_uses();
    // One ahead: the next gathering begins before this one is waited for.
    if (!gatherings_.empty()) begin(gatherings_[0], 0);
    for (std::size_t k = 0; k < gatherings_.size(); ++k) {
      if (k + 1 < gatherings_.size()) begin(gatherings_[k + 1], gatherings_[k].needed);
      end(gatherings_[k]);
    }
    order_.apply();
  }

 private:
  // Finds the parameters to gather. Those that are not trained are whole on every rank and get
  // their places in its vector.
  void find_parameters(const VectorLayout& layout) {
    std::map<std::int64_t, std::int64_t> kept;  // by offset in w: offset in what the rank holds
    for (const VectorPart& part : layout.parts) kept.emplace(part.offset, part.held_offset);
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      Place& place = graph_.values[id].place;
      if (place.base != Base::weights) continue;
      const std::int64_t first = place.offset_bytes / bytes_of(dtype_);
      const Range* range = table_.at(first);
      check(range != nullptr, "a parameter is a range");
      if (range->trainable) {
        firsts_[static_cast<ValueId>(id)] = first;
        continue;
      }
      const auto own = kept.find(first);
      check(own != kept.end(), "what is not trained has its place");
      place.offset_bytes = own->second * bytes_of(dtype_);
      place.slot = states_end_slot;
    }
  }

  std::size_t whole_at(std::int64_t first) const {
    const auto found = std::partition_point(wholes_.begin(), wholes_.end(),
                                            [&](const Whole& one) { return one.end <= first; });
    check(found != wholes_.end() && found->offset <= first, "a parameter lies in a block");
    return static_cast<std::size_t>(found - wholes_.begin());
  }

  // Finds what must be gathered, and which nodes read it.
  void find_uses() {
    std::vector<std::size_t> there;  // gatherings in the arena, least recently read first
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (std::size_t k = 0; k < graph_.nodes[i].inputs.size(); ++k) {
        const ValueId id = graph_.nodes[i].inputs[k];
        const auto parameter = firsts_.find(id);
        if (parameter == firsts_.end()) continue;
        const std::size_t whole = whole_at(parameter->second);
        const auto found = std::find_if(there.begin(), there.end(), [&](std::size_t one) {
          return gatherings_[one].whole == whole;
        });
        std::size_t own = gatherings_.size();
        if (found != there.end()) {
          own = *found;
          there.erase(found);
        } else {
          gatherings_.push_back({.whole = whole, .needed = static_cast<NodeId>(i)});
          if (there.size() == gathered_blocks) there.erase(there.begin());
        }
        there.push_back(own);
        gatherings_[own].uses[id].push_back({i, k});
      }
  }

  // Inserts the allgathers of a gathering before node `before`.
  void begin(Gathering& gathering, NodeId before) {
    const Whole& whole = wholes_[gathering.whole];
    graph_.scope = whole.name;
    for (const Block& block : whole.blocks) {
      const ValueId part =
          graph_.add_value("part of " + whole.name, {dtype_, {block.own.count()}},
                           {Base::weights, block.state_offset * bytes_of(dtype_), block.slot + 2});
      graph_.value(part).length_slot = block.slot + 1;
      gathering.pieces.push_back(graph_.add1(
          ops::allgather, {part},
          {{"axes", axis_}, {"part_offset", block.own.begin}, {"count", block.count()}}));
      graph_.nodes.back().bound = {{"part_offset", block.slot}};
      order_.insert_before(before);
    }
    graph_.scope.clear();
  }

  // Joins the gathered blocks where they are needed first, and lets all readers read from there.
  void end(const Gathering& gathering) {
    const Whole& whole = wholes_[gathering.whole];
    graph_.scope = whole.name;
    std::vector<std::int64_t> firsts;
    for (const Block& block : whole.blocks) firsts.push_back(block.offset - whole.offset);
    const ValueId all = graph_.add1(ops::join, gathering.pieces,
                                    {{"offset", whole.offset},
                                     {"count", whole.end - whole.offset},
                                     {"dtype", std::string(name_of(dtype_))},
                                     {"firsts", firsts}});
    order_.insert_before(gathering.needed);
    for (const auto& [parameter, uses] : gathering.uses) {
      const ValueId section = graph_.add1(
          ops::section, {all},
          {{"offset", firsts_.at(parameter) - whole.offset}, {"shape", graph_.shape(parameter)}});
      graph_.value(section).name = graph_.value(parameter).name;
      order_.insert_before(gathering.needed);
      for (const Use& use : uses) graph_.nodes[use.node].inputs[use.input] = section;
    }
    graph_.scope.clear();
  }

  Graph& graph_;
  NodeOrder order_;
  const RangeTable& table_;
  const DType dtype_;
  const std::string axis_;
  std::vector<Whole> wholes_;
  std::map<ValueId, std::int64_t> firsts_;  // by parameter to gather: its first element in w
  std::vector<Gathering> gatherings_;       // in the order in which they are needed
};

}  // namespace

void gather_weights(Graph& graph, const RangeTable& table, DType dtype, const StepClosing& closing,
                    const std::string& axis) {
  Gatherer(graph, table, dtype, closing, axis).run();
}

}  // namespace tutti
