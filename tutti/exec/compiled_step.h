// SPDX-License-Identifier: Apache-2.0
// The step of a rank as it will run, decided to the end: the graph with all places, which kernel
// computes each node, by which algorithm each message travels, how urgent it is and what it is
// called, and the instructions that a rank goes through. It is a value: it has no memory, no
// kernels and no communicator. Programs run it, the simulator runs it without values, predictions
// price it.
#pragma once

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/tags.h"
#include "tutti/comm/transport.h"
#include "tutti/core/mesh.h"
#include "tutti/exec/instructions.h"
#include "tutti/graph/graph.h"
#include "tutti/graph/memory_plan.h"
#include "tutti/graph/op.h"
#include "tutti/kernels/kernel_table.h"

#include <optional>
#include <string>
#include <vector>

namespace tutti {

// How the messages of a step travel.
struct MessageOptions {
  // Algorithms by name, or "auto".
  std::string allreduce = "auto", reduce_scatter = "auto", allgather = "auto";
  int node_ranks = 0;        // ranks per node for 'hierarchical'; 0: as the transport says
  bool fixed_order = false;  // add in rank order
  bool overlap = true;       // false: wait for each message where it starts
  // With overlap: updates may be postponed to the next step; not set: where there are several
  // nodes. Between threads, which compute their sums themselves, postponing costs a little.
  std::optional<bool> across_steps = {};
};

// The algorithms that a kind of message may travel by.
List<Collective> collectives_of(MessageKind kind);

struct CompiledStep {
  Graph graph;
  MemoryPlan memory;
  // The node where the update begins: gradients are complete before it, unless they travel rounded,
  // and parameters change only from there on, unless the update is postponed. size() where there is
  // no update.
  int first_update = 0;
  Instructions instructions = {};
  // By node: the implementation that was chosen, "onednn"; for a message the algorithm, "ring".
  std::vector<std::string> implementations = {};
  std::vector<MessageName> names = {};  // by node; only messages have one
  // By node that is a message: the node of the next step that first needs what depends on the
  // message; 0 where the update is never postponed.
  std::vector<int> urgencies = {};
  MessageOptions messages = {};
  Mesh mesh = {};
  TransportFacts facts = {};

  int size() const { return static_cast<int>(graph.nodes.size()); }
  const Node& node(int index) const { return graph.nodes[static_cast<std::size_t>(index)]; }
  const std::string& implementation(int index) const {
    return implementations[static_cast<std::size_t>(index)];
  }
  bool is_message(int index) const;
  // "convolution of conv1": operator and layer.
  std::string name_of_node(int index) const;
  int urgency(int index) const { return urgencies[static_cast<std::size_t>(index)]; }
};

// Decides what a graph whose memory is planned leaves open: kernels, algorithms and names of
// messages, urgencies and instructions.
CompiledStep compiled(Graph graph, MemoryPlan memory, const KernelTable& kernels,
                      const MessageOptions& messages = {}, const Mesh& mesh = {},
                      const TransportFacts& facts = {});

}  // namespace tutti
