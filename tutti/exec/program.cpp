// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/program.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/core/clock.h"
#include "tutti/ops/cast.h"
#include "tutti/ops/range.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

namespace tutti {
namespace {

// Whether the node belongs to the update: it reads gradients that are complete, or makes them so of
// those that have travelled rounded.
bool closes_step(const Graph& graph, const Node& node) {
  return node.op == &ops::square_sum || node.op == &ops::measure || node.op == &ops::update ||
         (node.op == &ops::cast && graph.value(node.inputs[0]).place.base == Base::rounded);
}

// Choosing takes long with many ranks, and vectors of equal length get the same.
using Choices = std::map<std::tuple<MessageKind, std::string, DType, std::int64_t>, Collective>;

Collective collective_for(MessageKind kind, const Messages& messages, const Group& group,
                          const CollectiveArgs& args) {
  if (kind == MessageKind::reduce_scatter)
    return choose(reduce_scatters(), messages.reduce_scatter, group, args);
  if (kind == MessageKind::allgather) return choose(allgathers(), messages.allgather, group, args);
  return choose(allreduces(), messages.allreduce, group, args);
}

// A send or receive as an operation that can be started every step.
class PointToPoint : public Operation {
 public:
  PointToPoint(const Group& group, const Node& node, std::int64_t bytes, int tag, const char* what)
      : communicator_(group.communicator()),
        sends_(node.op->message.kind == MessageKind::send),
        peer_(group.member(static_cast<int>(node.settings.integer(sends_ ? "to" : "from")))),
        tag_(tag),
        bytes_(bytes),
        what_(what) {}
  const char* what() const override { return what_; }
  void start(void* data) override {
    const std::lock_guard lock(communicator_);
    if (sends_) communicator_.count_sent(bytes_);
    request_ = sends_ ? communicator_.send(data, bytes_, peer_, tag_)
                      : communicator_.receive(data, bytes_, peer_, tag_);
    in_flight_.begin();
  }
  bool advance() override {
    const Turn turn(communicator_);
    if (!turn || !communicator_.test(request_)) return false;
    if (in_flight_) in_flight_.end();
    return true;
  }

 private:
  Communicator& communicator_;
  bool sends_;
  int peer_, tag_;
  std::int64_t bytes_;
  const char* what_;
  Request request_ = {};
  InFlight in_flight_{communicator_, *this};
};

struct Message {
  std::string algorithm;
  std::unique_ptr<Operation> operation;
};

// Makes the operations of a program's messages. Which name a message has is the same on all ranks
// of its group: that of its node, counted where several have the same.
class MessageMaker {
 public:
  MessageMaker(const Graph& graph, const Messages& messages) : graph_(graph), messages_(messages) {}

  Message make(const Node& node, int urgency, const std::string& name) {
    check(messages_.communicator != nullptr,
          "a graph with messages is compiled with a communicator");
    const std::string& axes = node.settings.text("axes");
    const Group& group = group_of(axes);
    const MessageKind kind = node.op->message.kind;
    const bool pair = kind == MessageKind::send || kind == MessageKind::receive;
    const std::string& own = pair ? node.settings.text("message") : name;
    const int number = pair ? 0 : count_[{axes, own}]++;
    Communicator& communicator = group.communicator();
    const int tag = communicator.tags().of(
        {.group = axes, .what = number == 0 ? own : fmt::format("{} ({})", own, number + 1)});
    const Value& value = graph_.value(operand_of(node));
    const char* what =
        communicator.keep(fmt::format("{} (tag {}, {} bytes)", name, tag, value.bytes()));
    if (pair)
      return {"message", std::make_unique<PointToPoint>(group, node, value.bytes(), tag, what)};
    const CollectiveArgs args{.dtype = value.type.dtype,
                              .count = elements(value.type.shape),
                              .tag = tag,
                              .fixed_order = messages_.fixed_order,
                              .node_ranks = messages_.node_ranks,
                              .what = what,
                              .urgency = urgency};
    const auto [found, is_new] = choices_.try_emplace({kind, axes, args.dtype, args.count});
    if (is_new) found->second = collective_for(kind, messages_, group, args);
    return {found->second.name, found->second.make(group, args)};
  }

 private:
  const Group& group_of(const std::string& axes) {
    const auto found = groups_.find(axes);
    if (found != groups_.end()) return found->second;
    return groups_
        .emplace(axes, group_along(*messages_.communicator, messages_.mesh, axes_in(axes)))
        .first->second;
  }

  const Graph& graph_;
  const Messages& messages_;
  std::map<std::string, Group> groups_;                       // by axes
  std::map<std::pair<std::string, std::string>, int> count_;  // of messages, by axes and name
  Choices choices_;
};

// An error says which node it was.
Kernel make_kernel(const Implementation& chosen, const Graph& graph, const Node& node,
                   const KernelContext& context) {
  try {
    return chosen.make(graph, node, context);
  } catch (const Error& error) {
    std::string sizes;
    for (const ValueId id : node.inputs)
      if (id != no_value) sizes += " " + to_string(graph.shape(id));
    throw Error("[{}]{}{}: {}", node.op->name, sizes,
                node.name.empty() ? "" : " of layer '" + node.name + "'", error.what());
  }
}

}  // namespace

Program::Program(Graph graph, MemoryPlan memory, const KernelTable& kernels,
                 const KernelContext& context, const Messages& messages)
    : graph_(std::move(graph)),
      memory_(std::move(memory)),
      device_(kernels.device),
      messages_(messages) {
  steps_.resize(graph_.nodes.size());
  plan_updates();
  MessageMaker messages_of_graph(graph_, messages_);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Node& node = graph_.nodes[i];
    Step& step = steps_[i];
    step.first_in = pointers_.size();
    pointers_.resize(pointers_.size() + node.inputs.size());
    step.first_out = pointers_.size();
    pointers_.resize(pointers_.size() + node.outputs.size());
    step.data = node.op->message.on_input ? step.first_in : step.first_out;
    step.scratch_offset = memory_.scratch_offset[i];
    if (messages_.communicator != nullptr)
      step.name = messages_.communicator->keep(name_of_step(static_cast<int>(i)));
    for (ValueId id : node.inputs) {
      const NodeId producer = id == no_value ? no_node : graph_.value(id).producer;
      if (producer != no_node &&
          tutti::is_message(graph_.nodes[static_cast<std::size_t>(producer)]))
        step.waits.push_back(&steps_[static_cast<std::size_t>(producer)]);
    }
    if (tutti::is_message(node)) {
      Message message =
          messages_of_graph.make(node, step.urgency, name_of_step(static_cast<int>(i)));
      step.implementation = std::move(message.algorithm);
      step.operation = std::move(message.operation);
      if (node.op->message.copies_input) step.copy_bytes = graph_.value(node.inputs[0]).bytes();
      if (node.op->message.kind == MessageKind::allgather)
        step.copy_offset =
            node.settings.integer("part_offset") * bytes_of(graph_.type(node.inputs[0]).dtype);
      step.leaves_arena = (node.op->message.kind == MessageKind::allgather ||
                           node.op->message.kind == MessageKind::reduce_scatter) &&
                          graph_.value(operand_of(node)).place.base == Base::arena;
    } else if (!node.op->view) {
      const Implementation& chosen = kernels.choose(graph_, node);
      step.implementation = chosen.name;
      step.kernel = make_kernel(chosen, graph_, node, context);
    } else {
      step.implementation = "view";
    }
  }
  pending_.reserve(steps_.size());
  link_late_updates();
}

// Where the update begins, and what of it can wait for the next run.
void Program::plan_updates() {
  const auto first = std::find_if(graph_.nodes.begin(), graph_.nodes.end(),
                                  [&](const Node& node) { return closes_step(graph_, node); });
  first_update_ = static_cast<int>(first - graph_.nodes.begin());
  const Communicator* communicator = messages_.communicator;
  if (communicator == nullptr || communicator->size() == 1 || !messages_.overlap) return;
  if (!messages_.across_steps.value_or(communicator->network().node_ranks < communicator->size()))
    return;
  late_ = plan_late_updates(graph_, memory_, first_update_, tutti::is_message);
  if (!late_.possible) return;
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].urgency = late_.urgency[i];
}

void Program::link_late_updates() {
  if (!late_.possible) return;
  early_.reserve(steps_.size());
  const auto link = [this](const std::vector<NodeId>& nodes, std::vector<Step*>& steps) {
    for (const NodeId node : nodes) steps.push_back(&steps_[static_cast<std::size_t>(node)]);
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    link(late_.before[i], steps_[i].late);
    link(late_.results[i], steps_[i].late_results);
    link(late_.over[i], steps_[i].over);
    if (static_cast<int>(i) >= first_update_)
      steps_[static_cast<std::size_t>(late_.from[i])].early.push_back(&steps_[i]);
    for (const ValueId id : graph_.nodes[i].inputs)
      if (id != no_value && graph_.value(id).producer >= first_update_)
        steps_[i].behind.push_back(&steps_[static_cast<std::size_t>(graph_.value(id).producer)]);
  }
}

void Program::bind(const Bases& bases) {
  if (bound_ == bases) return;
  // What is left was to be done on the vectors of the run that left it; inputs it has none.
  if (left_ > 0 && !std::equal(bases.pointers.begin(), bases.pointers.begin() + Base::inputs,
                               bound_->pointers.begin()))
    finish();
  bound_ = bases;
  const auto address = [&](ValueId id) -> void* {
    if (id == no_value) return nullptr;
    const Place& place = graph_.value(id).place;
    check(place.offset_bytes >= 0, "every value has been given a place");
    return bases[place.base] + place.offset_bytes;
  };
  std::size_t next = 0;
  for (const Node& node : graph_.nodes) {
    for (ValueId id : node.inputs) pointers_[next++] = address(id);
    for (ValueId id : node.outputs) pointers_[next++] = address(id);
  }
}

void Program::start(Step& step) {
  auto* data = static_cast<std::byte*>(pointers_[step.data]);
  const void* given = step.copy_bytes > 0 ? pointers_[step.first_in] : nullptr;
  if (given != nullptr && given != data + step.copy_offset)
    std::memcpy(data + step.copy_offset, given, static_cast<std::size_t>(step.copy_bytes));
  step.started = now();  // a later run may trace its end
  step.operation->start(data);
  step.under_way = true;
  const auto behind = std::upper_bound(pending_.begin(), pending_.end(), step.urgency,
                                       [](int a, const Step* b) { return a < b->urgency; });
  pending_.insert(behind, &step);
  if (!messages_.overlap) wait_for(step);
}

void Program::advance_pending() {
  const auto done = [this](Step* step) {
    if (!step->operation->advance()) return false;
    finished(*step);
    return true;
  };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), done), pending_.end());
}

void Program::wait_for(Step& step) {
  if (!step.under_way) return;
  const double began = trace_ != nullptr ? now() : 0;
  wait(*step.operation, *messages_.communicator);
  if (trace_ != nullptr) trace(step, TraceEvent::compute, began, "wait for ");
  finished(step);
  pending_.erase(std::remove(pending_.begin(), pending_.end(), &step), pending_.end());
}

void Program::await_result(Step& step) {
  if (!step.under_way) return;
  const double began = trace_ != nullptr ? now() : 0;
  wait_ready(*step.operation, *messages_.communicator);
  if (trace_ != nullptr) trace(step, TraceEvent::compute, began, "wait for ");
}

void Program::finished(Step& step) {
  step.under_way = false;
  if (trace_ != nullptr) trace(step, TraceEvent::messages, step.started);
}

double Program::now() const {
  if (messages_.communicator != nullptr) return messages_.communicator->seconds();
  return steady_seconds();
}

void Program::set_seconds(const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].seconds = seconds[i];
}

void Program::trace(const Step& step, TraceEvent::Stream stream, double started,
                    const char* prefix) {
  const auto index = &step - steps_.data();
  const Node& node = graph_.nodes[static_cast<std::size_t>(index)];
  trace_->push_back(
      {.name = prefix + name_of_step(static_cast<int>(index)),
       .detail = step.implementation,
       .rank = messages_.communicator == nullptr ? 0 : messages_.communicator->rank(),
       .stream = stream,
       .start = started,
       .seconds = now() - started,
       .bytes = step.operation != nullptr ? graph_.value(operand_of(node)).bytes() : 0});
}

void Program::finish(ValueId value) {
  const NodeId producer = graph_.value(value).producer;
  if (producer != no_node) wait_for(steps_[static_cast<std::size_t>(producer)]);
}

void Program::finish() {
  do_all_that_is_left();
  while (!pending_.empty()) wait_for(*pending_.front());
}

void Program::run(const Bases& bases, const StepState& state, int begin, int end,
                  Profile* profile) {
  trace_ = profile != nullptr ? profile->trace : nullptr;
  if (profile != nullptr) profile->seconds.resize(steps_.size());
  bind(bases);
  if (begin == 0) leaves_ = false;
  for (int i = begin; i < end; ++i) {
    Step& step = steps_[static_cast<std::size_t>(i)];
    if (late_.possible) catch_up(step, profile);
    if (leaves_ && i < late_.last_from) do_early(step, profile);
    execute(step, state, profile);
  }
  if (leaves_ && end == first_update_) clear_arena();
  if (end == size()) finish();
  if (profile != nullptr && end == size()) ++profile->runs;
}

void Program::execute(Step& step, const StepState& state, Profile* profile) {
  const double started = profile != nullptr ? now() : 0;
  if (messages_.communicator != nullptr) messages_.communicator->set_doing(step.name);
  for (Step* producer : step.waits) {
    if (producer->leaves_arena)
      wait_for(*producer);
    else
      await_result(*producer);
  }
  const double run = trace_ != nullptr ? now() : 0;
  if (step.kernel) {
    std::byte* scratch =
        step.scratch_offset < 0 ? nullptr : (*bound_)[Base::arena] + step.scratch_offset;
    step.kernel({.in = pointers_.data() + step.first_in,
                 .out = pointers_.data() + step.first_out,
                 .scratch = scratch,
                 .step = &state});
    if (step.seconds > 0) messages_.communicator->clock().spend(step.seconds);
    if (trace_ != nullptr) trace(step, TraceEvent::compute, run);
  } else if (step.operation != nullptr) {
    start(step);
  }
  if (!pending_.empty()) advance_pending();
  if (profile != nullptr)
    profile->seconds[static_cast<std::size_t>(&step - steps_.data())] += now() - started;
}

// What the run before has left to be done before this step.
void Program::catch_up(const Step& step, Profile* profile) {
  if (left_ > 0 && !leaves_)
    for (Step* late : step.late) {
      wait_usefully(*late, profile);
      do_left(*late, profile);
    }
  for (Step* message : step.late_results) await_result(*message);
  for (Step* message : step.over) wait_for(*message);
}

// What can be done of the update of this run, whose sums are there.
void Program::do_early(const Step& step, Profile* profile) {
  early_.insert(early_.end(), step.early.begin(), step.early.end());
  const auto done = [&](Step* left) {
    if (!need_not_wait(*left)) return false;
    do_left(*left, profile);
    return true;
  };
  early_.erase(std::remove_if(early_.begin(), early_.end(), done), early_.end());
}

// Does what else is left and need not wait until this one need not; but not over a network, where
// the messages of other updates would take the line from more urgent ones.
void Program::wait_usefully(Step& left, Profile* profile) {
  if (messages_.communicator->piece_bytes() != 0 || !left.left || need_not_wait(left)) return;
  const auto over = [&] {
    for (auto i = static_cast<std::size_t>(first_update_); i < steps_.size(); ++i)
      if (steps_[i].left && need_not_wait(steps_[i])) do_left(steps_[i], profile);
    return !left.left;
  };
  wait_until(std::cref(over), *messages_.communicator, left.name);
}

void Program::do_left(Step& step, Profile* profile) {
  if (!step.left) return;
  step.left = false;
  --left_;
  for (Step* message : step.over) wait_for(*message);
  execute(step, left_state_, profile);
}

bool Program::need_not_wait(const Step& step) const {
  return std::none_of(step.behind.begin(), step.behind.end(),
                      [](const Step* other) { return other->left; }) &&
         std::all_of(step.waits.begin(), step.waits.end(), [](const Step* other) {
           return !other->under_way || other->operation->ready();
         });
}

bool Program::leave_update(const StepState& state) {
  if (!late_.possible) return false;
  do_all_that_is_left();  // of the run before
  for (auto i = static_cast<std::size_t>(first_update_); i < steps_.size(); ++i)
    steps_[i].left = true;
  left_ = size() - first_update_;
  left_state_ = state;
  leaves_ = true;
  early_.clear();
  return true;
}

void Program::do_all_that_is_left() {
  for (auto i = static_cast<std::size_t>(first_update_); left_ > 0; ++i)
    do_left(steps_[i], nullptr);
}

// The next run puts other things there.
void Program::clear_arena() {
  for (std::size_t i = 0; i < pending_.size();) {
    const auto node = static_cast<std::size_t>(pending_[i] - steps_.data());
    if (graph_.value(operand_of(graph_.nodes[node])).place.base == Base::arena)
      wait_for(*pending_[i]);  // it leaves the list
    else
      ++i;
  }
}

std::string Program::first_not_finite(const Bases& bases, const StepState& state, int begin,
                                      int end, bool all_ranks) {
  for (int i = begin; i < end; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const bool message = steps_[index].operation != nullptr;
    if (message && !all_ranks) continue;
    run(bases, state, i, i + 1);
    if (message) continue;  // its result is looked at where it is used
    device_->synchronize();
    const Node& node = graph_.nodes[index];
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const Value& value = graph_.value(node.outputs[k]);
      if (is_float(value.type.dtype) &&
          !device_->all_finite(pointers_[steps_[index].first_out + k], value.type.dtype,
                               value.bytes() / bytes_of(value.type.dtype)))
        return name_of_step(i);
    }
  }
  return "";
}

std::string Program::name_of_step(int index) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(index)];
  return node.name.empty() ? node.op->name : node.op->name + " of " + node.name;
}

bool Program::is_message(int index) const {
  return steps_[static_cast<std::size_t>(index)].operation != nullptr;
}

ValueId Program::message_value(int index) const {
  return operand_of(graph_.nodes[static_cast<std::size_t>(index)]);
}

const std::string& Program::implementation(int index) const {
  return steps_[static_cast<std::size_t>(index)].implementation;
}

}  // namespace tutti
