// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/program.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/core/clock.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

namespace tutti {
namespace {

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

// Makes the operations of a step's messages.
class MessageMaker {
 public:
  MessageMaker(const CompiledStep& step, Communicator* communicator)
      : step_(step), communicator_(communicator) {}

  std::unique_ptr<Operation> make(int index) {
    check(communicator_ != nullptr, "a step with messages is run with a communicator");
    const Node& node = step_.node(index);
    const MessageName& name = step_.names[static_cast<std::size_t>(index)];
    const Group& group = group_along(name.group);
    const int tag = communicator_->tags().of(name);
    const Value& value = step_.graph.value(operand_of(node));
    const char* what = communicator_->keep(
        fmt::format("{} (tag {}, {} bytes)", step_.name_of_node(index), tag, value.bytes()));
    const MessageKind kind = node.op->message.kind;
    if (kind == MessageKind::send || kind == MessageKind::receive)
      return std::make_unique<PointToPoint>(group, node, value.bytes(), tag, what);
    const CollectiveArgs args{.dtype = value.type.dtype,
                              .count = elements(value.type.shape),
                              .tag = tag,
                              .fixed_order = step_.messages.fixed_order,
                              .node_ranks = step_.messages.node_ranks,
                              .what = what,
                              .urgency = step_.urgency(index)};
    return collectives_of(kind).find(step_.implementation(index)).make(group, args);
  }

 private:
  const Group& group_along(const std::string& axes) {
    const auto found = groups_.find(axes);
    if (found != groups_.end()) return found->second;
    return groups_.emplace(axes, tutti::group_along(*communicator_, step_.mesh, axes_in(axes)))
        .first->second;
  }

  const CompiledStep& step_;
  Communicator* communicator_;
  std::map<std::string, Group> groups_;  // by axes
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

Program::Program(CompiledStep step, const KernelTable& kernels, const KernelContext& context,
                 Communicator* communicator)
    : compiled_(std::move(step)), device_(kernels.device), communicator_(communicator) {
  const Graph& graph = compiled_.graph;
  steps_.resize(graph.nodes.size());
  MessageMaker messages(compiled_, communicator);
  for (int index = 0; index < size(); ++index) {
    const auto i = static_cast<std::size_t>(index);
    const Node& node = graph.nodes[i];
    Step& own = steps_[i];
    own.first_in = pointers_.size();
    pointers_.resize(pointers_.size() + node.inputs.size());
    own.first_out = pointers_.size();
    pointers_.resize(pointers_.size() + node.outputs.size());
    own.data = node.op->message.on_input ? own.first_in : own.first_out;
    own.scratch_offset = compiled_.memory.scratch_offset[i];
    own.urgency = compiled_.urgency(index);
    if (communicator != nullptr) own.name = communicator->keep(compiled_.name_of_node(index));
    for (ValueId id : node.inputs) {
      const NodeId producer = id == no_value ? no_node : graph.value(id).producer;
      if (producer != no_node && compiled_.is_message(producer))
        own.waits.push_back(&steps_[static_cast<std::size_t>(producer)]);
    }
    if (is_message(node)) {
      own.operation = messages.make(index);
      const MessageKind kind = node.op->message.kind;
      if (node.op->message.copies_input) own.copy_bytes = graph.value(node.inputs[0]).bytes();
      if (kind == MessageKind::allgather)
        own.copy_offset =
            node.settings.integer("part_offset") * bytes_of(graph.type(node.inputs[0]).dtype);
      own.leaves_arena = (kind == MessageKind::allgather || kind == MessageKind::reduce_scatter) &&
                         graph.value(operand_of(node)).place.base == Base::arena;
    } else if (!node.op->view) {
      own.kernel = make_kernel(kernels.choose(graph, node), graph, node, context);
    }
  }
  pending_.reserve(steps_.size());
  link_late_updates();
}

void Program::link_late_updates() {
  if (!compiled_.late.possible) return;
  early_.reserve(steps_.size());
  const auto link = [this](const std::vector<NodeId>& nodes, std::vector<Step*>& steps) {
    for (const NodeId node : nodes) steps.push_back(&steps_[static_cast<std::size_t>(node)]);
  };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    link(compiled_.late.before[i], steps_[i].late);
    link(compiled_.late.results[i], steps_[i].late_results);
    link(compiled_.late.over[i], steps_[i].over);
    if (static_cast<int>(i) >= first_update())
      steps_[static_cast<std::size_t>(compiled_.late.from[i])].early.push_back(&steps_[i]);
    for (const ValueId id : compiled_.graph.nodes[i].inputs)
      if (id != no_value && compiled_.graph.value(id).producer >= first_update())
        steps_[i].behind.push_back(
            &steps_[static_cast<std::size_t>(compiled_.graph.value(id).producer)]);
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
    const Place& place = compiled_.graph.value(id).place;
    check(place.offset_bytes >= 0, "every value has been given a place");
    return bases[place.base] + place.offset_bytes;
  };
  std::size_t next = 0;
  for (const Node& node : compiled_.graph.nodes) {
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
  if (!compiled_.messages.overlap) wait_for(step);
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
  wait(*step.operation, *communicator_);
  if (trace_ != nullptr) trace(step, TraceEvent::compute, began, "wait for ");
  finished(step);
  pending_.erase(std::remove(pending_.begin(), pending_.end(), &step), pending_.end());
}

void Program::await_result(Step& step) {
  if (!step.under_way) return;
  const double began = trace_ != nullptr ? now() : 0;
  wait_ready(*step.operation, *communicator_);
  if (trace_ != nullptr) trace(step, TraceEvent::compute, began, "wait for ");
}

void Program::finished(Step& step) {
  step.under_way = false;
  if (trace_ != nullptr) trace(step, TraceEvent::messages, step.started);
}

double Program::now() const {
  if (communicator_ != nullptr) return communicator_->seconds();
  return steady_seconds();
}

void Program::set_seconds(const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].seconds = seconds[i];
}

void Program::trace(const Step& step, TraceEvent::Stream stream, double started,
                    const char* prefix) {
  const auto index = &step - steps_.data();
  const Node& node = compiled_.graph.nodes[static_cast<std::size_t>(index)];
  trace_->push_back(
      {.name = prefix + compiled_.name_of_node(static_cast<int>(index)),
       .detail = compiled_.implementation(static_cast<int>(index)),
       .rank = communicator_ == nullptr ? 0 : communicator_->rank(),
       .stream = stream,
       .start = started,
       .seconds = now() - started,
       .bytes = step.operation != nullptr ? compiled_.graph.value(operand_of(node)).bytes() : 0});
}

void Program::finish(ValueId value) {
  const NodeId producer = compiled_.graph.value(value).producer;
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
    if (compiled_.late.possible) catch_up(step, profile);
    if (leaves_ && i < compiled_.late.last_from) do_early(step, profile);
    execute(step, state, profile);
  }
  if (leaves_ && end == first_update()) clear_arena();
  if (end == size()) finish();
  if (profile != nullptr && end == size()) ++profile->runs;
}

void Program::execute(Step& step, const StepState& state, Profile* profile) {
  const double started = profile != nullptr ? now() : 0;
  if (communicator_ != nullptr) communicator_->set_doing(step.name);
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
    if (step.seconds > 0) communicator_->clock().spend(step.seconds);
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
  if (communicator_->piece_bytes() != 0 || !left.left || need_not_wait(left)) return;
  const auto over = [&] {
    for (auto i = static_cast<std::size_t>(first_update()); i < steps_.size(); ++i)
      if (steps_[i].left && need_not_wait(steps_[i])) do_left(steps_[i], profile);
    return !left.left;
  };
  wait_until(std::cref(over), *communicator_, left.name);
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
  if (!compiled_.late.possible) return false;
  do_all_that_is_left();  // of the run before
  for (auto i = static_cast<std::size_t>(first_update()); i < steps_.size(); ++i)
    steps_[i].left = true;
  left_ = size() - first_update();
  left_state_ = state;
  leaves_ = true;
  early_.clear();
  return true;
}

void Program::do_all_that_is_left() {
  for (auto i = static_cast<std::size_t>(first_update()); left_ > 0; ++i)
    do_left(steps_[i], nullptr);
}

// The next run puts other things there.
void Program::clear_arena() {
  for (std::size_t i = 0; i < pending_.size();) {
    const auto node = static_cast<std::size_t>(pending_[i] - steps_.data());
    if (compiled_.graph.value(operand_of(compiled_.graph.nodes[node])).place.base == Base::arena)
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
    const Node& node = compiled_.graph.nodes[index];
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const Value& value = compiled_.graph.value(node.outputs[k]);
      if (is_float(value.type.dtype) &&
          !device_->all_finite(pointers_[steps_[index].first_out + k], value.type.dtype,
                               value.bytes() / bytes_of(value.type.dtype)))
        return compiled_.name_of_node(i);
    }
  }
  return "";
}

}  // namespace tutti
