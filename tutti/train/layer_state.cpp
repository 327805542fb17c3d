// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/layer_state.h"

#include "tutti/comm/collectives/collective.h"

#include <cstring>

namespace tutti {

MeanLayerState::MeanLayerState(Replica& replica) : replica_(replica) {
  if (!replica.plan().state_per_rank) return;
  Communicator& communicator = *replica.communicator();
  const Device& device = replica.device();
  const std::int64_t count = replica.layer_state_table().count();
  const Buffer mean(count * bytes_of(replica.dtype()));
  own_ = Buffer(mean.bytes());
  device.copy_out(own_.data(), replica.layer_state(), own_.bytes());
  std::memcpy(mean.data(), own_.data(), static_cast<std::size_t>(own_.bytes()));
  const CollectiveArgs args{.dtype = replica.dtype(),
                            .count = count,
                            .tag = communicator.tags().of({.what = "mean of the layer state"}),
                            .fixed_order = replica.fixed_order()};
  const auto sum = choose(allreduces(), "auto", communicator, args).make(communicator, args);
  sum->start(mean.data());
  wait(*sum, communicator);
  dispatch_float(replica.dtype(), [&](auto zero) {
    auto* values = reinterpret_cast<decltype(zero)*>(mean.data());
    for (std::int64_t i = 0; i < count; ++i)
      values[i] /= static_cast<decltype(zero)>(communicator.size());
  });
  device.copy_in(replica.layer_state(), mean.data(), mean.bytes());
}

MeanLayerState::~MeanLayerState() {
  if (own_.bytes() > 0)
    replica_.device().copy_in(replica_.layer_state(), own_.data(), own_.bytes());
}

}  // namespace tutti
