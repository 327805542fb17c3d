// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/layout.h"

#include "tutti/graph/op.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/join.h"

#include <algorithm>
#include <map>
#include <set>

namespace tutti {
namespace {

class LayoutPass {
 public:
  LayoutPass(Graph& graph, const Backend& backend) : graph_(graph), backend_(backend) {}

  void run() {
    std::vector<Node> original = std::move(graph_.nodes);
    graph_.nodes.clear();
    for (const Node& node : original)
      if (node.op == &ops::join) joined_.insert(node.inputs.begin(), node.inputs.end());
    for (Node& node : original) place(std::move(node));
    renumber(graph_);
  }

 private:
  // The value `id` in `layout`: itself, a copy made earlier, or a new reorder node.
  ValueId in_layout(ValueId id, const Layout& layout) {
    if (graph_.value(id).layout == layout) return id;
    for (const Copy& copy : copies_[id])
      if (graph_.value(copy.to).layout == layout && at_hand(id, copy)) return copy.to;
    const ValueId to = graph_.add_value("", graph_.type(id));
    graph_.value(to).layout = layout;
    add_reorder(id, to);
    copies_[id].push_back({to, graph_.nodes.size()});
    return to;
  }

  struct Copy {
    ValueId to;
    std::size_t made;  // number of nodes in the graph when the copy was made
  };

  // Whether a copy may be used again. A copy that takes more bytes than its source is used only by
  // the next few nodes; later ones make it again, so that it does not stay in memory.
  bool at_hand(ValueId from, const Copy& copy) const {
    constexpr std::size_t neighbours = 8;
    return graph_.value(copy.to).bytes() <= graph_.value(from).bytes() ||
           graph_.nodes.size() <= copy.made + neighbours;
  }

  void add_reorder(ValueId from, ValueId to) {
    // A view has no memory of its own, so its target must lie in the arena.
    const bool view =
        graph_.value(to).place.base == Base::arena &&
        backend_.same_bytes(graph_.type(from), graph_.value(from).layout, graph_.value(to).layout);
    Node node{.op = view ? &ops::relabel : &ops::reorder,
              .settings = {},
              .inputs = {from},
              .outputs = {to},
              .name = "",
              .origin = graph_.next_origin++};
    const NodeId producer = graph_.value(from).producer;
    node.name = producer == no_node ? graph_.value(from).name : scope_;
    graph_.nodes.push_back(std::move(node));
  }

  bool must_stay_plain(ValueId id) const {
    return graph_.value(id).place.base != Base::arena || joined_.count(id) > 0 ||
           std::count(graph_.outputs.begin(), graph_.outputs.end(), id) > 0;
  }

  // The layout in which an output is kept for its readers, when its kernel writes it in layout
  // `made`.
  Layout stored_layout(ValueId id, const Layout& made) const {
    const bool narrows = graph_.value(id).activation && backend_.stored && !must_stay_plain(id);
    return narrows ? backend_.stored(graph_.type(id), made) : made;
  }

  void place(Node node) {
    scope_ = node.name;
    for (ValueId& id : node.inputs)
      if (id != no_value && backend_.readable)
        id = in_layout(id, backend_.readable(graph_, node, id));
    const NodeLayouts wanted = backend_.layouts(graph_, node);
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      if (node.inputs[k] != no_value)
        node.inputs[k] =
            in_layout(node.inputs[k], k < wanted.inputs.size() ? wanted.inputs[k] : Layout{});
    // Values as kernels write them, and as readers need them.
    std::vector<std::pair<ValueId, ValueId>> back;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const ValueId id = node.outputs[k];
      const Layout made = k < wanted.outputs.size() ? wanted.outputs[k] : Layout{};
      if (const Layout stored = stored_layout(id, made); !(stored == made)) {
        const ValueId wide = graph_.add_value("", graph_.type(id));
        graph_.value(wide).layout = made;
        graph_.value(id).layout = stored;
        node.outputs[k] = wide;
        back.emplace_back(wide, id);
        continue;
      }
      if (made.plain()) continue;
      if (must_stay_plain(id) && backend_.same_bytes(graph_.type(id), {}, made)) continue;
      if (must_stay_plain(id)) {
        const ValueId blocked = graph_.add_value("", graph_.type(id));
        node.outputs[k] = blocked;
        back.emplace_back(blocked, id);
      }
      graph_.value(node.outputs[k]).layout = made;
    }
    graph_.nodes.push_back(std::move(node));
    for (const auto& [made, needed] : back) add_reorder(made, needed);
  }

  Graph& graph_;
  const Backend& backend_;
  std::map<ValueId, std::vector<Copy>> copies_;  // by the value that was copied
  std::set<ValueId> joined_;                     // values that a join puts into a block
  std::string scope_;
};

}  // namespace

void assign_layouts(Graph& graph, const Backend& backend) { LayoutPass(graph, backend).run(); }

}  // namespace tutti
