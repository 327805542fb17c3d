// SPDX-License-Identifier: Apache-2.0
// Checkpoints (L01): what is read is what was written; no crash, full disk or damage goes
// unnoticed.
#include "tutti/checkpoint/checkpoint.h"

#include "tutti/checkpoint/safetensors.h"
#include "tutti/core/rng.h"

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tutti {
namespace {

namespace fs = std::filesystem;

RangeTable small_table() {
  RangeTable table;
  table.add("conv.weight", {2, 3});
  table.add("conv.bias", {2});
  return table;
}

// Everything a checkpoint holds, made from one number.
struct Trained {
  RangeTable table = small_table();
  std::vector<float> w, m, v;
  CheckpointState state;

  explicit Trained(std::uint64_t number = 0, std::size_t states = 2) : state_count(states) {
    for (auto* vector : {&w, &m, &v}) vector->resize(static_cast<std::size_t>(table.count()));
    if (number == 0) return;
    for (const Range& range : table.ranges)
      for (std::int64_t i = range.offset; i < range.end(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        w[at] = static_cast<float>(normal(number, at));
        m[at] = static_cast<float>(normal(number + 100, at));
        v[at] = static_cast<float>(normal(number + 200, at));
      }
    state = {
        static_cast<std::int64_t>(number), 2, 3, ~number, {{"recipe", "a = 1\n[b]"}, {"x", ""}}};
  }
  void write(const std::string& path) const {
    std::vector<const void*> states = {m.data(), v.data()};
    states.resize(state_count);
    write_checkpoint(path, table, DType::f32, w.data(), states, state);
  }
  void read(const std::string& path) {
    std::vector<void*> states = {m.data(), v.data()};
    states.resize(state_count);
    state = read_checkpoint(path, table, DType::f32, w.data(), states);
  }
  bool operator==(const Trained& other) const {
    return w == other.w && m == other.m && v == other.v && state == other.state;
  }

  std::size_t state_count;
};

class Checkpoint : public testing::Test {
 protected:
  Trained read() {
    Trained run;
    run.read(name);
    return run;
  }
  std::string bytes(const std::string& ending) { return read_bytes(name + ending); }
  std::size_t files() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder;
  std::string name = folder.file("run");
};

TEST_F(Checkpoint, RoundTrip) {
  const Trained first(1);
  first.write(name);
  EXPECT_EQ(files(), 2u);
  EXPECT_TRUE(fs::exists(name + ".safetensors"));
  EXPECT_TRUE(fs::exists(name + ".state"));
  EXPECT_TRUE(read() == first);
  EXPECT_EQ(read_checkpoint_state(name), first.state);
  Trained(2).write(name + ".safetensors");  // either name
  EXPECT_EQ(files(), 2u);
  EXPECT_TRUE(read() == Trained(2));
  EXPECT_FALSE(read() == Trained(1));
}

TEST_F(Checkpoint, InDouble) {
  const RangeTable table = small_table();
  std::vector<double> w(static_cast<std::size_t>(table.count()), 0.1), read(w.size());
  write_checkpoint(name, table, DType::f64, w.data(), {}, {});
  EXPECT_EQ(read_checkpoint(name, table, DType::f64, read.data(), {}), CheckpointState());
  EXPECT_EQ(read[0], 0.1);
  EXPECT_EQ(read[6], 0);  // gaps are not stored
}

TEST_F(Checkpoint, SameRunSameBytes) {
  Trained(1).write(name);
  Trained(1).write(folder.file("again"));
  EXPECT_EQ(bytes(".safetensors"), read_bytes(folder.file("again.safetensors")));
  EXPECT_EQ(bytes(".state"), read_bytes(folder.file("again.state")));
}

TEST_F(Checkpoint, WeightsAreNamedWholeTensors) {
  Trained(1).write(name);
  const SafetensorsFile file = read_safetensors(name + ".safetensors");
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors[0].name, "conv.weight");
  EXPECT_EQ(file.tensors[0].tensor.shape, (Shape{2, 3}));
}

TEST_F(Checkpoint, WeightsAloneCanBeRead) {
  Trained(1).write(name);
  fs::remove(name + ".state");
  Trained run;
  read_weights(name, run.table, DType::f32, run.w.data());
  EXPECT_EQ(run.w, Trained(1).w);
  expect_error([&] { read(); }, {"run.state", "is missing"});
}

TEST_F(Checkpoint, MissingCheckpoint) {
  expect_error([&] { read(); }, {"there is no checkpoint", "run.safetensors"});
  expect_error([&] { read_weights(name, small_table(), DType::f32, nullptr); }, {"no checkpoint"});
}

// Every state of the folder in which a crash can leave it while checkpoint `next` replaces `last`.
class Crash : public Checkpoint {
 protected:
  static constexpr int points = 7;

  // Brings the folder from a whole `last` to the crash point; false: `last` counts, true: `next`.
  bool crash_at(int point, const Trained& next) {
    const std::string other = folder.file("other");
    next.write(other);
    const std::string weights = read_bytes(other + ".safetensors");
    const std::string state = read_bytes(other + ".state");
    fs::remove(other + ".safetensors");
    fs::remove(other + ".state");
    if (point == 1) write_bytes(name + ".safetensors.new", weights.substr(0, weights.size() / 2));
    if (point >= 2) write_bytes(name + ".safetensors.new", weights);
    if (point == 3) write_bytes(name + ".state.new", state.substr(0, state.size() / 2));
    if (point >= 4) write_bytes(name + ".state.new", state);
    if (point >= 5) fs::rename(name + ".safetensors.new", name + ".safetensors");
    if (point >= 6) fs::rename(name + ".state.new", name + ".state");
    return point >= 5;
  }
};

TEST_F(Crash, AtEveryPointLeavesAWholeCheckpoint) {
  for (int point = 0; point < points; ++point) {
    Trained(1).write(name);
    const bool replaced = crash_at(point, Trained(2));
    EXPECT_TRUE(read() == Trained(replaced ? 2 : 1)) << "point " << point;
    Trained(3).write(name);  // and the next one goes through
    EXPECT_TRUE(read() == Trained(3)) << "point " << point;
    EXPECT_EQ(files(), 2u) << "point " << point;
  }
}

// The second writer must not destroy NAME.state.new while it is the only state of the weights. It
// is killed while it writes (a file that would grow beyond the limit kills it), really.
TEST_F(Crash, AfterACrash) {
  Trained(3).write(name);
  const std::size_t weights_bytes = bytes(".safetensors").size();
  const std::size_t state_bytes = bytes(".state").size();
  ASSERT_GT(state_bytes, weights_bytes + 10);
  for (int point = 0; point < points; ++point)
    for (const std::size_t limit : {std::size_t{0}, weights_bytes / 2, weights_bytes - 1,
                                    weights_bytes + 1, state_bytes - 1}) {
      Trained(1).write(name);
      const bool replaced = crash_at(point, Trained(2));
      EXPECT_FALSE(with_file_limit(
          limit, [&] { return Trained(3).write(name), true; }, AtLimit::killed));
      EXPECT_TRUE(read() == Trained(replaced ? 2 : 1)) << "point " << point << " limit " << limit;
    }
}

TEST_F(Crash, FirstCheckpointKilledAtAnyByte) {
  Trained(1).write(folder.file("whole"));
  const auto state_bytes = read_bytes(folder.file("whole.state")).size();
  for (std::size_t limit = 0; limit < state_bytes; limit += 7) {
    EXPECT_FALSE(with_file_limit(
        limit, [&] { return Trained(1).write(name), true; }, AtLimit::killed));
    expect_error([&] { read(); }, {"there is no checkpoint"});
  }
  EXPECT_TRUE(with_file_limit(
      state_bytes, [&] { return Trained(1).write(name), true; }, AtLimit::killed));
  EXPECT_TRUE(read() == Trained(1));
}

TEST_F(Checkpoint, FullDiskLeavesTheOldOneAndNoRest) {
  Trained(1).write(name);
  const std::string weights = bytes(".safetensors"), state = bytes(".state");
  for (std::size_t limit = 0; limit < state.size(); limit += 5) {
    const bool refused = with_file_limit(limit, [&] {
      try {
        Trained(2).write(name);
      } catch (const Error& error) {
        return std::string(error.what()).find("can't write " + name) != std::string::npos;
      }
      return false;
    });
    EXPECT_TRUE(refused) << "limit " << limit;
    EXPECT_EQ(files(), 2u) << "limit " << limit;
  }
  EXPECT_EQ(bytes(".safetensors"), weights);
  EXPECT_EQ(bytes(".state"), state);
}

TEST_F(Checkpoint, FoldersThatCannotBeWritten) {
  expect_error([] { Trained(1).write("/proc/run"); }, {"can't write /proc/run.safetensors.new"});
  write_bytes(folder.file("file"), "");
  expect_error([&] { Trained(1).write(folder.file("file/run")); }, {"Not a directory"});
  expect_error([&] { Trained(1).write(folder.file("absent/run")); }, {"No such file"});
  EXPECT_EQ(files(), 1u);
}

TEST_F(Checkpoint, NameTakenByAFolder) {
  fs::create_directory(name + ".safetensors");
  expect_error([&] { Trained(1).write(name); }, {"can't rename"});
  EXPECT_EQ(files(), 1u);
}

TEST_F(Checkpoint, RefusesEveryFlippedByte) {
  Trained(1).write(name);
  for (const char* ending : {".safetensors", ".state"}) {
    const std::string whole = bytes(ending);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 7)));
      write_bytes(name + ending, flipped);
      EXPECT_THROW(read(), Error) << ending << " byte " << at;
    }
    write_bytes(name + ending, whole);
  }
  EXPECT_TRUE(read() == Trained(1));
}

TEST_F(Checkpoint, RefusesEveryTruncation) {
  Trained(1).write(name);
  for (const char* ending : {".safetensors", ".state"}) {
    const std::string whole = bytes(ending);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write_bytes(name + ending, whole.substr(0, length));
      expect_error([&] { read(); }, {"damaged", ending});
    }
    write_bytes(name + ending, whole);
  }
}

TEST_F(Checkpoint, RefusesFilesOfDifferentCheckpoints) {
  Trained(1).write(name);
  const std::string state = bytes(".state");
  Trained(2).write(name);
  write_bytes(name + ".state", state);
  expect_error([&] { read(); }, {"run.state was not written with", "different checkpoints"});
}

TEST_F(Checkpoint, RefusesAStateThatIsNone) {
  Trained(1).write(name);
  const std::string checksum = read_safetensors(name + ".safetensors").checksum;
  write_safetensors(name + ".state", {}, {{"weights_crc32", checksum}, {"step", "1x"}});
  expect_error([&] { read_checkpoint_state(name); }, {"'step' is \"1x\"", "an integer"});
}

TEST_F(Checkpoint, RefusesAnotherModel) {
  Trained(1).write(name);
  Trained run;
  run.table.ranges[0].shape = run.table.ranges[0].global_shape = {3, 2};
  expect_error([&] { run.read(name); }, {"'conv.weight' is f32 2×3", "expected f32 3×2"});

  Trained renamed;
  renamed.table.ranges[1].name = "conv.shift";
  expect_error([&] { renamed.read(name); }, {"no tensor 'conv.shift'", "expected f32 2"});

  Trained smaller;
  smaller.table.ranges.pop_back();
  expect_error([&] { smaller.read(name); }, {"has a tensor 'conv.bias'", "does not have"});

  std::vector<double> w(64);
  expect_error([&] { read_weights(name, small_table(), DType::f64, w.data()); },
               {"'conv.weight' is f32 2×3, expected f64 2×3"});
}

TEST_F(Checkpoint, RefusesAnotherRule) {
  Trained(1).write(name);
  Trained fewer(0, 1);
  expect_error([&] { fewer.read(name); }, {"run.state has a tensor 'optimizer.1.conv.weight'"});
  Trained(1, 1).write(name);
  expect_error([&] { read(); }, {"run.state has no tensor 'optimizer.1.conv.weight'"});
}

}  // namespace
}  // namespace tutti
