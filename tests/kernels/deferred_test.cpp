// SPDX-License-Identifier: Apache-2.0
// What the back end `deferred` promises, so that tests on it mean something: a host access faults,
// and work that nobody waits for is not done.
#include "tutti/kernels/backends.h"
#include "tutti/ops/relu.h"

#include "expect_error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace tutti {
namespace {

TEST(DeferredDevice, AHostAccessFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto device = deferred_device(0);
  const DeviceMemory memory = device->allocate(16);
  EXPECT_DEATH(*static_cast<volatile std::byte*>(memory.get()) = std::byte{1}, "");
}

TEST(DeferredDevice, CopiesGoThereAndBack) {
  const auto device = deferred_device(3);
  EXPECT_EQ(device->index, 3);
  EXPECT_FALSE(device->host);
  const DeviceMemory memory = device->allocate(16);
  std::vector<int> out(4, -1);
  device->copy_out(out.data(), memory.get(), 16);
  EXPECT_EQ(out, std::vector<int>(4, 0)) << "memory begins with zeros";
  const std::vector<int> in = {1, 2, 3, 4};
  device->copy_in(memory.get() + 4, in.data(), 8);
  device->copy_out(out.data(), memory.get(), 16);
  EXPECT_EQ(out, (std::vector<int>{0, 1, 2, 0}));
}

TEST(DeferredDevice, StreamsCopyPinnedMemoryOnly) {
  const auto device = deferred_device(0);
  const Stream stream = device->make_stream();
  const DeviceMemory memory = device->allocate(8), pinned = device->allocate_pinned(8);
  std::int64_t own = 7;
  EXPECT_THROW(device->copy(stream.get(), memory.get(), &own, 8), std::logic_error);
  EXPECT_THROW(device->copy(stream.get(), pinned.get() + 4, memory.get(), 8), std::logic_error);
  EXPECT_THROW(device->copy(nullptr, memory.get(), pinned.get(), 8), std::logic_error);
  std::memcpy(pinned.get(), &own, 8);
  device->copy(stream.get(), memory.get(), pinned.get(), 8);
  own = 0;
  device->copy_out(&own, memory.get(), 8);
  EXPECT_EQ(own, 7) << "copy_out waits for what was launched";
}

// A stream that waits for another's event does nothing before.
TEST(DeferredDevice, StreamsWaitForEvents) {
  const auto device = deferred_device(0);
  const Stream first = device->make_stream(), second = device->make_stream();
  const Event event = device->make_event();
  EXPECT_TRUE(device->is_over(event.get())) << "it was never recorded";
  const DeviceMemory memory = device->allocate(8), pinned = device->allocate_pinned(16);
  std::int64_t numbers[2] = {5, 0};
  for (std::int64_t round = 1; round < 200; ++round) {
    numbers[0] = round;
    std::memcpy(pinned.get(), numbers, 16);
    device->copy(first.get(), memory.get(), pinned.get(), 8);
    device->record(event.get(), first.get());
    device->wait(second.get(), event.get());
    device->copy(second.get(), pinned.get() + 8, memory.get(), 8);
    device->record(event.get(), second.get());
    device->wait_host(event.get());
    EXPECT_TRUE(device->is_over(event.get()));
    std::memcpy(numbers, pinned.get(), 16);
    ASSERT_EQ(numbers[1], round);
  }
}

// A table whose device is not the host's, and whose last resort is.
TEST(KernelTables, AHostKernelIsNeverGivenDeviceMemory) {
  KernelTable table = reference_kernels();
  table.name = "other";
  table.device = deferred_device(0);
  Graph graph;
  graph.add1(ops::relu, {graph.add_value("x", {DType::f32, {4}})});
  for (const auto& find :
       std::vector<std::function<void()>>{[&] { table.find(graph, graph.nodes[0]); },
                                          [&] { table.choose(graph, graph.nodes[0]); }})
    expect_error(find, {"[relu] has no kernel on back end 'other'", "'reference'", "host",
                        "device 'deferred'"});
  table.by_op["relu"] = {*reference_for(ops::relu)};
  expect_error([&] { table.choose(graph, graph.nodes[0]); }, {"[relu] has no kernel"});
  table.by_op.clear();
  table.last_resort = nullptr;
  expect_error([&] { table.choose(graph, graph.nodes[0]); },
               {"[relu] has no kernel on back end 'other'"});
  EXPECT_EQ(deferred_kernels().choose(graph, graph.nodes[0]).device, "deferred");
}

TEST(BackendList, EveryEntryMakesATableOfItsDevice) {
  for (const BackendEntry& entry : backends()) {
    const KernelTable table = kernels_named(entry.name, 1);
    EXPECT_EQ(table.name, entry.name);
    EXPECT_FALSE(entry.doc.empty());
    EXPECT_EQ(table.device->host, entry.host);
  }
  expect_error([] { kernels_named("cpus"); }, {"unknown back end 'cpus'", "cpu"});
  BackendEntry absent = backends().find("cpu");
  absent.missing = [] { return std::string("it has no sockets"); };
  expect_error([&] { require_available(absent); },
               {"back end 'cpu' can't be used here: it has no sockets"});
}

}  // namespace
}  // namespace tutti
