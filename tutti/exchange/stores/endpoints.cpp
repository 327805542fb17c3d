// SPDX-License-Identifier: Apache-2.0
#include "tutti/exchange/stores/endpoints.h"

#include "tutti/core/mesh.h"
#include "tutti/exchange/guard.h"
#include "tutti/exchange/update_nodes.h"
#include "tutti/graph/op.h"
#include "tutti/ops/copy.h"
#include "tutti/ops/section.h"
#include "tutti/ops/send_recv.h"
#include "tutti/ops/square_sum.h"
#include "tutti/ops/update.h"

namespace tutti {
namespace {

// Names of messages. They tell the offset, since blocks that one range was cut into have one name.
std::string pushed(const Block& block) {
  return fmt::format("push of {} at {}", block.name(), block.offset);
}
std::string pulled(const Block& block) {
  return fmt::format("pull of {} at {}", block.name(), block.offset);
}

void add_send(Graph& graph, ValueId value, int end, const std::string& message) {
  graph.add(ops::send, {value},
            {{"axes", std::string(store_axis)}, {"to", std::int64_t{end}}, {"message", message}});
  graph.nodes.back().name = message;
}

ValueId add_receive(Graph& graph, const Type& type, int end, const std::string& message,
                    Place place) {
  const ValueId received = graph.add1(ops::recv, {},
                                      {{"axes", std::string(store_axis)},
                                       {"from", std::int64_t{end}},
                                       {"message", message},
                                       {"shape", type.shape},
                                       {"dtype", std::string(name_of(type.dtype))}});
  graph.nodes.back().name = message;
  graph.value(received).place = place;
  return received;
}

// The rank's side of one step.
class Pushing {
 public:
  explicit Pushing(BlockNodes& nodes) : nodes_(nodes), ranks_(nodes.closing().ranks) {}

  // Sends the word of a bad step to all endpoints: behind the loss, before anything is pushed.
  void tell_bad_step() {
    const ValueId word = bad_step_of(graph());
    if (word == no_value) return;
    const NodeId guard = graph().value(word).producer;
    const ValueId loss = graph().nodes[static_cast<std::size_t>(guard)].inputs[0];
    nodes_.order().move_behind(guard, graph().value(loss).producer);
    for (int rank = 0; rank < ranks_; ++rank) {
      add_send(graph(), word, ranks_ + rank, bad_step_message);
      nodes_.order().insert_behind(guard);
    }
  }

  // Sends each part of a block to its endpoint. Returns the whole block.
  ValueId push(const FilledBlock& filled) {
    const Block& block = filled.block;
    const ValueId all = nodes_.joined(filled);
    NodeId behind = graph().value(all).producer;
    for (int rank = 0; rank < ranks_; ++rank) {
      const Part part = part_of(block.count(), nodes_.dtype(), rank, ranks_);
      if (part.count() == 0) continue;
      const ValueId section = graph().add1(
          ops::section, {all}, {{"offset", part.begin}, {"shape", Shape{part.count()}}});
      behind = nodes_.order().insert_behind(behind);
      add_send(graph(), section, ranks_ + rank, pushed(block));
      behind = nodes_.order().insert_behind(behind);
    }
    return all;
  }

  // Receives the new weights of a block, behind all nodes: until then the old weights may be read.
  void pull(const Block& block) {
    for (int rank = 0; rank < ranks_; ++rank) {
      const Part part = part_of(block.count(), nodes_.dtype(), rank, ranks_);
      if (part.count() == 0) continue;
      add_receive(graph(), {nodes_.dtype(), {part.count()}}, ranks_ + rank, pulled(block),
                  nodes_.at(Base::weights, block.offset + part.begin));
    }
  }

 private:
  Graph& graph() { return nodes_.graph(); }

  BlockNodes& nodes_;
  const int ranks_;
};

// Updates the endpoint's part of a block by what was pushed. Returns the new weights of that part.
ValueId add_update(Graph& graph, const Updating& update, const Block& block, ValueId pushed_part,
                   ValueId bad_step, std::int64_t square_offset) {
  const Type part = graph.type(pushed_part);
  const auto own = [&](const char* name, int base) {
    return graph.add_value(name, part, {base, block.state_offset * bytes_of(part.dtype)});
  };
  std::vector<ValueId> in = {pushed_part, own("w", Base::weights)};
  for (int k = 0; k < update.rule->states; ++k) in.push_back(own("state", Base::optimizer + k));
  in.push_back(bad_step);
  Settings settings = update_settings(update, block);
  settings.set("sticky", true);
  const std::vector<ValueId> out = graph.add(ops::update, in, settings);
  graph.nodes.back().name = block.name();
  for (std::size_t i = 0; i + 1 < out.size(); ++i)
    graph.value(out[i]).place = graph.value(in[i + 1]).place;
  graph.value(out.back()).place = {Base::results, square_offset};
  graph.results.push_back(out.back());
  return out[0];
}

}  // namespace

void push_and_pull(BlockNodes& nodes, const std::vector<FilledBlock>& blocks,
                   std::int64_t results_offset_bytes) {
  Pushing step(nodes);
  step.tell_bad_step();
  std::vector<ValueId> gradients;
  for (const FilledBlock& block : blocks) gradients.push_back(step.push(block));
  nodes.order().apply();
  Graph& graph = nodes.graph();
  const ValueId squares = graph.add1(ops::square_sum, gradients, {});
  graph.value(squares).place = {Base::results, results_offset_bytes};
  graph.results.push_back(squares);
  for (const FilledBlock& block : blocks) step.pull(block.block);
}

Graph service_of(const RangeTable& table, DType dtype, const StepClosing& closing, int worker,
                 std::int64_t bad_step_offset, std::int64_t squares_offset) {
  Graph graph;
  const ValueId word = add_receive(graph, {DType::i64, {}}, worker, bad_step_message,
                                   {Base::results, bad_step_offset});
  graph.results.push_back(word);
  const std::vector<Block> blocks =
      owned_blocks_of(table, dtype, closing, [](const Range&) { return ""; });
  // The backward pass of a rank fills the last blocks first.
  for (std::size_t k = blocks.size(); k-- > 0;) {
    const Block& block = blocks[k];
    if (block.own.count() == 0) continue;
    const std::int64_t offset = block.state_offset * bytes_of(dtype);
    const ValueId g = add_receive(graph, {dtype, {block.own.count()}}, worker, pushed(block),
                                  {Base::gradients, offset});
    const ValueId w = add_update(graph, closing.update, block, g, word,
                                 squares_offset + 8 * static_cast<std::int64_t>(k));
    const ValueId answer = graph.add1(ops::copy, {w});
    graph.value(answer).place = {Base::encoded, offset};
    add_send(graph, answer, worker, pulled(block));
  }
  return graph;
}

}  // namespace tutti
