// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/staging.h"

#include "tutti/kernels/backends.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Numbers go to the device and come back in their order, though the host runs ahead.
TEST(Staging, CopiesKeepTheirOrder) {
  for (const char* backend : {"reference", "deferred"}) {
    const auto device = kernels_named(backend).device;
    const Streams streams = make_streams(*device);
    const DeviceMemory there = device->allocate(sizeof(int));
    Upload up(*device, streams.compute, sizeof(int));
    Download down(*device, streams.compute, sizeof(int));
    const auto taken = [&] { return *reinterpret_cast<const int*>(down.take()); };
    int next = 0;
    for (int sent = 0; sent < 20; ++sent) {
      up.put(there.get(), &sent);
      down.post(there.get());
      if (down.under_way() == staging_slots) {
        EXPECT_EQ(taken(), next++) << backend;
      }
    }
    while (down.under_way() > 0) {
      EXPECT_EQ(taken(), next++) << backend;
    }
    EXPECT_EQ(next, 20);
  }
}

TEST(Staging, NothingIsOverwrittenBeforeItWasTaken) {
  const auto device = host_device();
  const DeviceMemory there = device->allocate(sizeof(int));
  Download down(*device, nullptr, sizeof(int));
  EXPECT_ANY_THROW(down.take());
  for (std::size_t k = 0; k < staging_slots; ++k) down.post(there.get());
  EXPECT_ANY_THROW(down.post(there.get()));
}

}  // namespace
}  // namespace tutti
