// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/program.h"

#include "tutti/core/clock.h"
#include "tutti/exec/message_operations.h"

#include <algorithm>

namespace tutti {
namespace {

// Makes the kernel of a node; an error says which node it was.
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
    : compiled_(std::move(step)),
      device_(kernels.device),
      streams_(context.streams.compute != nullptr ? context.streams : make_streams(*device_)),
      states_(*device_, streams_.compute),
      communicator_(communicator),
      carriers_(compiled_.graph.nodes.size()),
      walk_(compiled_.instructions),
      is_ready_([this](int message) {
        const Carrier& carrier = of_message(message);
        return !carrier.under_way || carrier.operation->ready();
      }) {
  KernelContext own = context;
  own.streams = streams_;
  for (int node = 0; node < size(); ++node) make_carrier(node, kernels, own);
  MessageOperations operations(compiled_, communicator, *device_, streams_);
  for (const NodeId message : compiled_.instructions.nodes)
    at(message).operation = operations.make(message);
  pending_.reserve(carriers_.size());
}

void Program::make_carrier(int index, const KernelTable& kernels, const KernelContext& context) {
  const Graph& graph = compiled_.graph;
  const Node& node = compiled_.node(index);
  Carrier& own = at(index);
  own.first_in = pointers_.size();
  pointers_.resize(pointers_.size() + node.inputs.size());
  own.first_out = pointers_.size();
  pointers_.resize(pointers_.size() + node.outputs.size());
  own.data = node.op->message.on_input ? own.first_in : own.first_out;
  own.scratch_offset = compiled_.memory.scratch_offset[static_cast<std::size_t>(index)];
  own.urgency = compiled_.urgency(index);
  if (communicator_ != nullptr) own.name = communicator_->keep(compiled_.name_of_node(index));
  if (is_message(node)) {
    own.carries = has_operand(node);
    if (node.op->message.copies_input) own.copy_bytes = graph.value(node.inputs[0]).bytes();
    if (node.op->message.kind == MessageKind::allgather)
      own.copy_offset =
          node.settings.integer("part_offset") * bytes_of(graph.type(node.inputs[0]).dtype);
  } else if (!node.op->view) {
    own.kernel = make_kernel(kernels.choose(graph, node), graph, node, context);
  }
}

void Program::bind(const Bases& bases) {
  if (bound_ == bases) return;
  // A postponed update works on the vectors of the step that postponed it, and reads no inputs.
  if (walk_.has_postponed() && !bases.same_vectors(*bound_)) finish();
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

void Program::run(const Bases& bases, const StepState& state, int begin, int end,
                  Profile* profile) {
  bind(bases);
  trace_ = profile != nullptr ? profile->trace : nullptr;
  walk_.begin(begin, end);
  drive(states_.put(state, postponed_state_), profile);
  if (profile != nullptr && end == size()) ++profile->runs;
}

bool Program::step(const Bases& bases, const StepState& state, bool may_postpone,
                   Profile* profile) {
  bind(bases);
  trace_ = profile != nullptr ? profile->trace : nullptr;
  const bool postpones = walk_.begin(0, size(), may_postpone);
  const StepState* own = states_.put(state, postponed_state_);
  drive(own, profile);
  postponed_state_ = postpones ? own : nullptr;
  if (profile != nullptr) ++profile->runs;
  return postpones;
}

void Program::finish() {
  walk_.begin_finish();
  drive(postponed_state_, nullptr);
  postponed_state_ = nullptr;
}

void Program::begin(const Bases& bases, const StepState& state) {
  bind(bases);
  walk_.begin(0, size(), /*may_postpone=*/false);
  begun_state_ = states_.put(state, postponed_state_);
}

bool Program::advance() {
  while (true) {
    if (waited_ && !is_over(*waited_)) return false;
    waited_.reset();
    const Walk::Next next = walk_.next(is_ready_);
    if (next.kind == Walk::Next::end) return true;
    if (next.kind == Walk::Next::wait)
      waited_ = next;
    else
      carry_out(next, begun_state_, /*timed=*/false);
  }
}

// Whether a wait is over; then the compute stream waits for the result, too.
bool Program::is_over(const Walk::Next& wait) {
  Carrier& carrier = of_message(wait.subject);
  if (carrier.under_way && carrier.operation->advance()) {
    finished(carrier);
    pending_.erase(std::remove(pending_.begin(), pending_.end(), &carrier), pending_.end());
  } else if (carrier.under_way && (wait.complete || !carrier.operation->ready())) {
    return false;
  }
  if (DeviceEvent* there = carrier.operation->result_event(); there != nullptr)
    device_->wait(streams_.compute.get(), there);
  return true;
}

// Carries out the run that walk_ has begun.
void Program::drive(const StepState* state, Profile* profile) {
  if (profile != nullptr) profile->seconds.resize(carriers_.size());
  while (true) {
    Walk::Next next = walk_.next(is_ready_);
    if (next.kind == Walk::Next::wait_any) {
      const auto over = [&] {
        next = walk_.next(is_ready_);
        return next.kind != Walk::Next::wait_any;
      };
      wait_until(std::ref(over), *communicator_, of_message(next.subject).name);
    }
    if (next.kind == Walk::Next::end) return;
    const double began = profile != nullptr ? now() : 0;
    carry_out(next, state, profile != nullptr);
    if (profile != nullptr) {
      const bool computes = next.kind == Walk::Next::compute;
      const NodeId node =
          computes ? next.subject
                   : compiled_.instructions.nodes[static_cast<std::size_t>(next.subject)];
      profile->seconds[static_cast<std::size_t>(node)] += now() - began;
    }
  }
}

void Program::carry_out(const Walk::Next& next, const StepState* state, bool timed) {
  if (next.kind == Walk::Next::wait) return wait_for(of_message(next.subject), next.complete);
  Carrier& carrier = next.kind == Walk::Next::start ? of_message(next.subject) : at(next.subject);
  if (communicator_ != nullptr) communicator_->set_doing(carrier.name);
  if (next.kind == Walk::Next::start)
    start(carrier);
  else
    compute(carrier, next.of_step_before ? postponed_state_ : state, timed);
  if (!pending_.empty()) advance_pending();
}

void Program::compute(Carrier& carrier, const StepState* state, bool timed) {
  const double started = trace_ != nullptr ? now() : 0;
  std::byte* scratch =
      carrier.scratch_offset < 0 ? nullptr : (*bound_)[Base::arena] + carrier.scratch_offset;
  carrier.kernel({.in = pointers_.data() + carrier.first_in,
                  .out = pointers_.data() + carrier.first_out,
                  .scratch = scratch,
                  .step = state,
                  .stream = streams_.compute.get()});
  if (timed) device_->synchronize();
  if (carrier.seconds > 0) communicator_->clock().spend(carrier.seconds);
  if (trace_ != nullptr) trace(carrier, TraceEvent::compute, started);
}

void Program::start(Carrier& carrier) {
  auto* data = carrier.carries ? static_cast<std::byte*>(pointers_[carrier.data]) : nullptr;
  const void* given = carrier.copy_bytes > 0 ? pointers_[carrier.first_in] : nullptr;
  if (given != nullptr && given != data + carrier.copy_offset)
    device_->copy(streams_.compute.get(), data + carrier.copy_offset, given, carrier.copy_bytes);
  carrier.started = now();  // a later run may trace its end
  carrier.operation->start(data);
  carrier.under_way = true;
  const auto behind = std::upper_bound(pending_.begin(), pending_.end(), carrier.urgency,
                                       [](int a, const Carrier* b) { return a < b->urgency; });
  pending_.insert(behind, &carrier);
}

void Program::advance_pending() {
  const auto done = [this](Carrier* carrier) {
    if (!carrier->operation->advance()) return false;
    finished(*carrier);
    return true;
  };
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), done), pending_.end());
}

void Program::wait_for(Carrier& carrier, bool complete) {
  if (carrier.under_way) wait_for_message(carrier, complete);
  if (DeviceEvent* there = carrier.operation->result_event(); there != nullptr)
    device_->wait(streams_.compute.get(), there);
}

void Program::wait_for_message(Carrier& carrier, bool complete) {
  const double began = trace_ != nullptr ? now() : 0;
  if (complete)
    wait(*carrier.operation, *communicator_);
  else
    wait_ready(*carrier.operation, *communicator_);
  if (trace_ != nullptr) trace(carrier, TraceEvent::compute, began, "wait for ");
  if (!complete) return;
  finished(carrier);
  pending_.erase(std::remove(pending_.begin(), pending_.end(), &carrier), pending_.end());
}

void Program::finished(Carrier& carrier) {
  carrier.under_way = false;
  if (trace_ != nullptr && carrier.carries) trace(carrier, TraceEvent::messages, carrier.started);
}

double Program::now() const {
  if (communicator_ != nullptr) return communicator_->seconds();
  return steady_seconds();
}

void Program::set_seconds(const std::vector<double>& seconds) {
  for (std::size_t i = 0; i < carriers_.size(); ++i) carriers_[i].seconds = seconds[i];
}

void Program::trace(const Carrier& carrier, TraceEvent::Stream stream, double started,
                    const char* prefix) {
  const auto index = static_cast<int>(&carrier - carriers_.data());
  trace_->push_back({.name = prefix + compiled_.name_of_node(index),
                     .detail = compiled_.implementation(index),
                     .rank = communicator_ == nullptr ? 0 : communicator_->rank(),
                     .stream = stream,
                     .start = started,
                     .seconds = now() - started,
                     .bytes = carrier.carries
                                  ? compiled_.graph.value(operand_of(compiled_.node(index))).bytes()
                                  : 0});
}

std::string Program::first_not_finite(const Bases& bases, const StepState& state, int begin,
                                      int end, bool all_ranks) {
  for (int i = begin; i < end; ++i) {
    const bool message = compiled_.is_message(i);
    if (message && !all_ranks) continue;
    run(bases, state, i, i + 1);
    if (message) continue;  // its result is looked at where it is used
    const Node& node = compiled_.node(i);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      const Value& value = compiled_.graph.value(node.outputs[k]);
      if (is_float(value.type.dtype) &&
          !device_->all_finite(pointers_[at(i).first_out + k], value.type.dtype,
                               value.bytes() / bytes_of(value.type.dtype)))
        return compiled_.name_of_node(i);
    }
  }
  return "";
}

}  // namespace tutti
