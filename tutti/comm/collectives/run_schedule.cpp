// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/collectives/run_schedule.h"

#include "tutti/comm/collectives/algorithms.h"
#include "tutti/core/tensor.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace tutti::collectives {
namespace {

class ScheduledOperation final : public Operation {
 public:
  ScheduledOperation(Communicator& communicator, Actions actions, const CollectiveArgs& args,
                     std::int64_t elements)
      : comm_(communicator),
        actions_(std::move(actions)),
        args_(args),
        elements_(elements),
        element_bytes_(bytes_of(args.dtype)) {
    std::size_t widest = 0;
    std::int64_t scratch = 0, summands = 0;
    for (begin_ = end_ = 0; next_step();) {
      widest = std::max(widest, end_ - begin_);
      std::int64_t incoming = 0;
      for (std::size_t i = begin_; i < end_; ++i) {
        const Part& segment = actions_[i].segment;
        scratch = std::max(scratch, segment.end - elements_);
        if (actions_[i].kind == Action::receive_add) incoming += segment.count();
      }
      summands = std::max(summands, incoming);
    }
    requests_.resize(widest);
    scratch_ = Buffer(scratch * element_bytes_);
    summands_ = Buffer(summands * element_bytes_);
  }

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    in_flight_.begin();
    data_ = static_cast<std::byte*>(data);
    begin_ = end_ = 0;
    if (next_step()) post();
  }

  const char* what() const override { return args_.what; }

  bool advance() override {
    const Turn turn(comm_);
    if (!turn) return false;
    if (!in_flight_) return true;
    while (begin_ < actions_.size()) {
      bool arrived = true;
      for (std::size_t i = begin_; i < end_; ++i)
        if (!comm_.test(requests_[i - begin_])) arrived = false;
      if (!arrived) return false;
      compute();
      if (next_step()) post();
    }
    in_flight_.end();
    return true;
  }

 private:
  // Moves on to the actions [begin_, end_) of the next step; false when there is none.
  bool next_step() {
    begin_ = end_;
    while (end_ < actions_.size() && actions_[end_].step == actions_[begin_].step) ++end_;
    return begin_ < actions_.size();
  }

  std::byte* at(std::int64_t element) const {
    return element < elements_ || scratch_.bytes() == 0
               ? data_ + element * element_bytes_
               : scratch_.data() + (element - elements_) * element_bytes_;
  }
  std::int64_t bytes(const Action& action) const { return action.segment.count() * element_bytes_; }

  void post() {
    std::int64_t summand = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      const Action& action = actions_[i];
      Request& request = requests_[i - begin_];
      void* memory = at(action.segment.begin);
      if (action.kind == Action::receive_add) {
        memory = summands_.data() + summand;
        summand += bytes(action);
      }
      if (!action.is_message())
        request = {};
      else if (action.kind == Action::send) {
        request = comm_.send(memory, bytes(action), action.peer, args_.tag);
        comm_.count_sent(bytes(action));
      } else
        request = comm_.receive(memory, bytes(action), action.peer, args_.tag);
    }
  }

  // The additions and copies of the step.
  void compute() {
    std::int64_t summand = 0;
    for (std::size_t i = begin_; i < end_; ++i) {
      const Action& action = actions_[i];
      const auto length = static_cast<std::size_t>(bytes(action));
      if (length == 0) continue;
      std::byte* into = at(action.segment.begin);
      if (action.kind == Action::receive_add) {
        sum(into, summands_.data() + summand, action.segment.count());
        summand += bytes(action);
      } else if (action.kind == Action::add) {
        sum(into, at(action.from), action.segment.count());
      } else if (action.kind == Action::copy) {
        std::memcpy(into, at(action.from), length);
      }
    }
  }

  void sum(std::byte* into, const std::byte* summand, std::int64_t count) const {
    dispatch_float(args_.dtype, [&]<class T>(T) {
      accumulate(reinterpret_cast<T*>(into), reinterpret_cast<const T*>(summand), count);
    });
  }

  Communicator& comm_;
  const Actions actions_;
  const CollectiveArgs args_;
  const std::int64_t elements_, element_bytes_;
  Buffer scratch_, summands_;  // summands_: what is received to be added
  std::byte* data_ = nullptr;
  std::size_t begin_ = 0, end_ = 0;  // the actions of the step
  std::vector<Request> requests_;    // by action of the step
  InFlight in_flight_{comm_, *this};
};

}  // namespace

std::unique_ptr<Operation> run_schedule(Communicator& communicator, Actions actions,
                                        const CollectiveArgs& args, std::int64_t elements) {
  return std::make_unique<ScheduledOperation>(communicator, std::move(actions), args, elements);
}

}  // namespace tutti::collectives
