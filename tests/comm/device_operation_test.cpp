// SPDX-License-Identifier: Apache-2.0
// Messages of memory that the host can't reach, on the device of the back end `deferred`.
#include "tutti/comm/device_operation.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/threads/threads.h"
#include "tutti/kernels/backends.h"

#include <gtest/gtest.h>

#include <vector>

namespace tutti {
namespace {

constexpr std::int64_t vector_count = 1000, vector_bytes = 4 * vector_count;

// A vector of a rank on its device, what it comes from and where it is read.
struct DeviceVector {
  explicit DeviceVector(const Device& device)
      : data(device.allocate(vector_bytes)),
        given(device.allocate_pinned(vector_bytes)),
        found(device.allocate_pinned(vector_bytes)) {}
  float* floats(const DeviceMemory& memory) const { return reinterpret_cast<float*>(memory.get()); }

  DeviceMemory data, given, found;
};

// Ranks wait for two sums in different orders, and start each again as soon as they have it. The
// host waits for nothing but the messages.
TEST(DeviceOperation, SumsWhatIsComputedBeforeAndIsThereForWhatComesBehind) {
  constexpr int ranks = 3, rounds = 30;
  run_ranks(ranks, [&](Communicator& communicator) {
    const auto device = deferred_device(communicator.rank());
    const Streams streams = make_streams(*device);
    DeviceStream* const compute = streams.compute.get();
    std::vector<DeviceVector> vectors;
    std::vector<std::unique_ptr<Operation>> sums;
    for (int k = 0; k < 2; ++k) {
      vectors.emplace_back(*device);
      const CollectiveArgs args{.count = vector_count, .tag = k, .fixed_order = true};
      sums.push_back(
          on_device(allreduces().find(k == 0 ? "ring" : "direct").make(communicator, args),
                    communicator, *device, streams, vector_bytes));
    }
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t k = 0; k < 2; ++k) {
        const DeviceVector& own = vectors[k];
        for (std::int64_t i = 0; i < vector_count; ++i)
          own.floats(own.given)[i] = static_cast<float>(communicator.rank() + 10 * round +
                                                        static_cast<int>(i + 7 * k) % 5);
        device->copy(compute, own.data.get(), own.given.get(), vector_bytes);
        sums[k]->start(own.data.get());
      }
      for (std::size_t turn = 0; turn < 2; ++turn) {
        const std::size_t k = (turn + static_cast<std::size_t>(communicator.rank())) % 2;
        wait(*sums[k], communicator);
        device->wait(compute, sums[k]->result_event());
        device->copy(compute, vectors[k].found.get(), vectors[k].data.get(), vector_bytes);
      }
      device->synchronize();
      for (std::size_t k = 0; k < 2; ++k)
        for (std::int64_t i = 0; i < vector_count; ++i)
          ASSERT_EQ(vectors[k].floats(vectors[k].found)[i],
                    static_cast<float>(3 + ranks * (10 * round + static_cast<int>(i + 7 * k) % 5)))
              << "sum " << k << " of round " << round << ", element " << i;
    }
  });
}

// A rank that fails ends the others' waiting for what is not even fetched.
TEST(DeviceOperation, EndsWithTheJob) {
  EXPECT_THROW(run_ranks(2,
                         [&](Communicator& communicator) {
                           if (communicator.rank() == 1) throw Error("rank 1 has had enough");
                           const auto device = deferred_device(0);
                           const Streams streams = make_streams(*device);
                           const DeviceVector own(*device);
                           const CollectiveArgs args{.count = vector_count};
                           const auto sum =
                               on_device(allreduces().find("ring").make(communicator, args),
                                         communicator, *device, streams, vector_bytes);
                           sum->start(own.data.get());
                           wait(*sum, communicator);
                         }),
               Error);
}

}  // namespace
}  // namespace tutti
