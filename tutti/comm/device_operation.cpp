// SPDX-License-Identifier: Apache-2.0
#include "tutti/comm/device_operation.h"

#include <mutex>

namespace tutti {
namespace {

class DeviceOperation final : public Operation {
 public:
  DeviceOperation(std::unique_ptr<Operation> travel, Communicator& communicator,
                  const Device& device, const Streams& streams, std::int64_t bytes,
                  DeviceCopies copies)
      : comm_(communicator),
        device_(device),
        streams_(streams),
        bytes_(bytes),
        fetches_(copies != DeviceCopies::to_device),
        returns_(copies != DeviceCopies::to_host),
        pinned_(device.allocate_pinned(bytes)),
        computed_(device.make_event()),
        fetched_(device.make_event()),
        returned_(device.make_event()),
        travel_(std::move(travel)) {}

  const char* what() const override { return travel_->what(); }
  int urgency() const override { return travel_->urgency(); }
  DeviceEvent* result_event() const override { return returned_.get(); }

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    in_flight_.begin();
    data_ = data;
    stage_ = Stage::fetching;
    device_.record(computed_.get(), streams_.compute.get());
    if (!fetches_) return device_.wait(streams_.to_device.get(), computed_.get());
    device_.wait(streams_.to_host.get(), computed_.get());
    device_.wait(streams_.to_host.get(), returned_.get());  // the last result has left pinned_
    device_.copy(streams_.to_host.get(), pinned_.get(), data_, bytes_);
    device_.record(fetched_.get(), streams_.to_host.get());
  }

  bool advance() override {
    const Turn turn(comm_);
    if (!turn) return false;
    if (!in_flight_) return true;
    if (!has_result() || !travel_->advance()) return false;
    in_flight_.end();
    return true;
  }

  bool ready() override {
    const Turn turn(comm_);
    return turn && (!in_flight_ || has_result());
  }

 private:
  enum class Stage { fetching, travelling, returned };

  // Goes on as far as is possible without waiting; true when the result is on its way back to the
  // device.
  bool has_result() {
    if (stage_ == Stage::fetching) {
      if (!device_.is_over(fetches_ ? fetched_.get() : returned_.get())) return false;
      travel_->start(pinned_.get());
      stage_ = Stage::travelling;
    }
    if (stage_ == Stage::travelling) {
      if (!travel_->ready()) return false;
      if (returns_) {
        device_.copy(streams_.to_device.get(), data_, pinned_.get(), bytes_);
        device_.record(returned_.get(), streams_.to_device.get());
      }
      stage_ = Stage::returned;
    }
    return true;
  }

  Communicator& comm_;
  const Device& device_;
  const Streams streams_;
  const std::int64_t bytes_;
  const bool fetches_, returns_;
  DeviceMemory pinned_;
  // computed_: the data is complete on the device; fetched_: it has been copied to pinned_;
  // returned_: the result has been copied from pinned_ to the device.
  Event computed_, fetched_, returned_;
  std::unique_ptr<Operation> travel_;  // destroyed before pinned_, on which it works
  void* data_ = nullptr;
  Stage stage_ = Stage::returned;
  InFlight in_flight_{comm_, *this};
};

}  // namespace

std::unique_ptr<Operation> on_device(std::unique_ptr<Operation> travel, Communicator& communicator,
                                     const Device& device, const Streams& streams,
                                     std::int64_t bytes, DeviceCopies copies) {
  return std::make_unique<DeviceOperation>(std::move(travel), communicator, device, streams, bytes,
                                           copies);
}

}  // namespace tutti
