// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/message_operations.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/device_operation.h"

#include <mutex>

namespace tutti {
namespace {

class PointToPoint final : public Operation {
 public:
  PointToPoint(Communicator& communicator, bool sends, int peer, std::int64_t bytes, int tag,
               int urgency, const char* what)
      : communicator_(communicator),
        sends_(sends),
        peer_(peer),
        tag_(tag),
        urgency_(urgency),
        bytes_(bytes),
        what_(what) {}
  const char* what() const override { return what_; }
  int urgency() const override { return urgency_; }
  void start(void* data) override {
    const std::lock_guard lock(communicator_);
    if (sends_) communicator_.count_sent(bytes_);
    request_ = sends_ ? communicator_.send(data, bytes_, peer_, tag_, urgency_)
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
  int peer_, tag_, urgency_;
  std::int64_t bytes_;
  const char* what_;
  Request request_ = {};
  InFlight in_flight_{communicator_, *this};
};

class BarrierOperation final : public Operation {
 public:
  BarrierOperation(const Group& group, const char* what)
      : communicator_(group.communicator()), what_(what) {
    check(group.is_everyone(), "all ranks of the job meet at a barrier");
  }
  const char* what() const override { return what_; }
  void start(void*) override { arrival_ = communicator_.arrive(); }
  bool advance() override { return communicator_.test(arrival_); }

 private:
  Communicator& communicator_;
  const char* what_;
  Request arrival_ = {};
};

}  // namespace

std::unique_ptr<Operation> MessageOperations::make(int index) {
  check(communicator_ != nullptr, "a step with messages is run with a communicator");
  std::unique_ptr<Operation> made = make_on_host(index);
  if (device_.host) return made;
  const Node& node = step_.node(index);
  const std::int64_t bytes = has_operand(node) ? step_.graph.value(operand_of(node)).bytes() : 0;
  const MessageKind kind = node.op->message.kind;
  const DeviceCopies copies = kind == MessageKind::send      ? DeviceCopies::to_host
                              : kind == MessageKind::receive ? DeviceCopies::to_device
                                                             : DeviceCopies::both;
  return on_device(std::move(made), *communicator_, device_, streams_, bytes, copies);
}

std::unique_ptr<Operation> MessageOperations::make_on_host(int index) {
  const Node& node = step_.node(index);
  const MessageName& name = step_.names[static_cast<std::size_t>(index)];
  const MessageKind kind = node.op->message.kind;
  const bool sends = kind == MessageKind::send;
  if (sends || kind == MessageKind::receive) return make_single(index, sends);
  const Group& group = group_along(name.group);
  if (kind == MessageKind::barrier)
    return std::make_unique<BarrierOperation>(group,
                                              communicator_->keep(step_.name_of_node(index)));
  const int tag = communicator_->tags().of(name);
  const Value& value = step_.graph.value(operand_of(node));
  const int urgency = step_.urgency(index);
  const char* what = communicator_->keep(
      fmt::format("{} (tag {}, {} bytes)", step_.name_of_node(index), tag, value.bytes()));
  const CollectiveArgs args{.dtype = value.type.dtype,
                            .count = elements(value.type.shape),
                            .tag = tag,
                            .fixed_order = step_.messages.fixed_order,
                            .node_ranks = step_.messages.node_ranks,
                            .what = what,
                            .urgency = urgency};
  return collectives_of(kind).find(step_.implementation(index)).make(group, args);
}

std::unique_ptr<Operation> MessageOperations::make_single(int index, bool sends) {
  const Node& node = step_.node(index);
  const MessageName& name = step_.names[static_cast<std::size_t>(index)];
  const auto place = static_cast<int>(node.settings.integer(sends ? "to" : "from"));
  const int peer = name.group == store_axis ? place : group_along(name.group).member(place);
  const int tag = communicator_->tags().of(name);
  const std::int64_t bytes = step_.graph.value(operand_of(node)).bytes();
  return std::make_unique<PointToPoint>(
      *communicator_, sends, peer, bytes, tag, step_.urgency(index),
      communicator_->keep(
          fmt::format("{} (tag {}, {} bytes)", step_.name_of_node(index), tag, bytes)));
}

const Group& MessageOperations::group_along(const std::string& axes) {
  const auto found = groups_.find(axes);
  if (found != groups_.end()) return found->second;
  return groups_.emplace(axes, tutti::group_along(*communicator_, step_.mesh, axes_in(axes)))
      .first->second;
}

}  // namespace tutti
