// SPDX-License-Identifier: Apache-2.0
#include "tutti/checkpoint/safetensors.h"

#include "expect_error.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>

namespace tutti {
namespace {

// A file as another tool would write it: the header as given, not padded, no checksum.
std::string foreign(const std::string& header, const std::string& data) {
  const std::uint64_t bytes = header.size();
  std::string file(reinterpret_cast<const char*>(&bytes), 8);
  return file + header + data;
}

class Safetensors : public testing::Test {
 protected:
  void expect_refused(const std::string& bytes, std::initializer_list<const char*> parts) {
    write_bytes(path, bytes);
    expect_error([&] { read_safetensors(path); }, {path.c_str()});
    expect_error([&] { read_safetensors(path); }, parts);
  }

  TemporaryFolder folder;
  std::string path = folder.file("a.safetensors");
  std::vector<float> f = {1, 2, 3, 4, 5, 6, 7};
  std::vector<double> d = {0.1, 0.2};
  std::vector<std::int32_t> i = {-1, 1 << 30};
  std::vector<std::uint8_t> u = {0, 255, 7};
  std::vector<NamedTensor> tensors = {
      {"layer.f", {DType::f32, {7}, f.data()}},         {"d", {DType::f64, {2, 1}, d.data()}},
      {"i \"quoted\"", {DType::i32, {1, 2}, i.data()}}, {"u", {DType::u8, {3}, u.data()}},
      {"scalar", {DType::f32, {}, f.data()}},           {"empty", {DType::f32, {0, 5}, f.data()}}};
};

TEST_F(Safetensors, RoundTrip) {
  const Metadata metadata = {{"model", "mlp"}, {"text", "two\nlines"}};
  const std::string checksum = write_safetensors(path, tensors, metadata);
  const SafetensorsFile file = read_safetensors(path);
  EXPECT_EQ(file.metadata, metadata);
  EXPECT_EQ(file.checksum, checksum);
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const NamedTensor& written : tensors) {
    const Tensor* read = file.find(written.name);
    ASSERT_NE(read, nullptr) << written.name;
    EXPECT_EQ(read->dtype, written.tensor.dtype);
    EXPECT_EQ(read->shape, written.tensor.shape);
    EXPECT_EQ(std::memcmp(read->data, written.tensor.data, static_cast<std::size_t>(read->bytes())),
              0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read->data) %
                  static_cast<std::uintptr_t>(bytes_of(read->dtype)),
              0u);
  }
  EXPECT_EQ(file.find("absent"), nullptr);
}

// Byte by byte what the format demands, so that other tools read it.
TEST_F(Safetensors, FollowsTheFormat) {
  write_safetensors(path, {tensors[0], tensors[1]}, {{"k", "v"}});
  const std::string bytes = read_bytes(path);
  std::uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data(), 8);
  EXPECT_EQ(header_bytes % 8, 0u);
  EXPECT_EQ(bytes.size(), 8 + header_bytes + 7 * 4 + 2 * 8);
  EXPECT_EQ(bytes[8], '{');
  const auto header = nlohmann::json::parse(bytes.substr(8, header_bytes));
  EXPECT_EQ(header["layer.f"]["dtype"], "F32");
  EXPECT_EQ(header["layer.f"]["shape"], (std::vector<int>{7}));
  EXPECT_EQ(header["layer.f"]["data_offsets"], (std::vector<int>{16, 44}));
  EXPECT_EQ(header["d"]["dtype"], "F64");
  EXPECT_EQ(header["d"]["data_offsets"], (std::vector<int>{0, 16}));
  EXPECT_EQ(header["__metadata__"]["k"], "v");
  EXPECT_EQ(header.size(), 3u);
  EXPECT_EQ(std::memcmp(bytes.data() + 8 + header_bytes + 16, f.data(), 28), 0);
}

TEST_F(Safetensors, SameContentSameBytes) {
  write_safetensors(path, tensors, {{"a", "b"}});
  write_safetensors(folder.file("b"), tensors, {{"a", "b"}});
  EXPECT_EQ(read_bytes(path), read_bytes(folder.file("b")));
}

TEST_F(Safetensors, ReadsOtherToolsFiles) {
  const float value = 2.5f;
  write_bytes(path, foreign(R"({"x":{"shape":[1],"dtype":"F32","data_offsets":[0,4]}})",
                            std::string(reinterpret_cast<const char*>(&value), 4)));
  const SafetensorsFile file = read_safetensors(path);
  EXPECT_EQ(file.checksum, "");
  EXPECT_EQ(*file.find("x")->as<float>(), 2.5f);
}

TEST_F(Safetensors, NoTensors) {
  write_safetensors(path, {}, {});
  EXPECT_TRUE(read_safetensors(path).tensors.empty());
}

TEST_F(Safetensors, RefusesEveryTruncation) {
  write_safetensors(path, tensors, {});
  const std::string bytes = read_bytes(path);
  for (std::size_t length = 0; length < bytes.size(); ++length)
    expect_refused(bytes.substr(0, length), {"damaged"});
  expect_refused(bytes.substr(0, 5), {"5 bytes", "at least 8"});
  expect_refused(bytes.substr(0, 50), {"header", "truncated"});
  expect_refused(bytes.substr(0, bytes.size() - 1), {"truncated"});
  expect_refused(bytes + "x", {"bytes of data"});
}

TEST_F(Safetensors, RefusesEveryFlippedBitOfTheData) {
  write_safetensors(path, {tensors[0]}, {});
  const std::string bytes = read_bytes(path);
  for (std::size_t at = bytes.size() - 28; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    expect_refused(flipped, {"checksum", "expected"});
  }
}

TEST_F(Safetensors, RefusesBadHeaders) {
  expect_refused(foreign("not json", ""), {"header is not a JSON object"});
  expect_refused(foreign("[1]", ""), {"header is not a JSON object"});
  expect_refused(foreign(R"({"__metadata__":3})", ""), {"__metadata__ is not an object"});
  expect_refused(foreign(R"({"__metadata__":{"a":3}})", ""), {"metadata 'a' is not a string"});
  expect_refused(foreign(R"({"x":3})", ""), {"tensor 'x' has dtype null", "expected F32"});
  expect_refused(foreign(R"({"x":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})", "ab"),
                 {"tensor 'x' has dtype \"BF16\""});
  expect_refused(foreign(R"({"x":{"dtype":"U8","shape":"1","data_offsets":[0,1]}})", "a"),
                 {"tensor 'x' has no shape"});
  expect_refused(foreign(R"({"x":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", "a"),
                 {"tensor 'x' has no shape"});
  std::string huge(9, '\x7f');
  expect_refused(huge, {"header should have"});
}

TEST_F(Safetensors, RefusesBadPlaces) {
  const auto two = [](const char* first, const char* second) {
    return foreign(fmt::format(R"({{"x":{{"dtype":"U8","shape":[2],"data_offsets":{}}},)"
                               R"("y":{{"dtype":"U8","shape":[2],"data_offsets":{}}}}})",
                               first, second),
                   "abcd");
  };
  write_bytes(path, two("[2,4]", "[0,2]"));
  EXPECT_EQ(read_safetensors(path).tensors[0].name, "y");
  expect_refused(two("[0,2]", "[1,3]"), {"tensor 'y' begins at byte 1", "expected 2"});
  expect_refused(two("[0,2]", "[3,5]"), {"tensor 'y' begins at byte 3"});
  expect_refused(two("[0,2]", "[2,5]"), {"tensor 'y'", "[2,5]", "2 bytes apart"});
  expect_refused(two("[0,2]", "[4,2]"), {"tensor 'y'"});
  expect_refused(two("[0,2]", "[2]"), {"tensor 'y'"});
  expect_refused(two("[0,2]", "null"), {"tensor 'y'"});
  expect_refused(two("[0,2]", "[18446744073709551615,1]"), {"tensor 'y'"});
  expect_refused(
      foreign(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", ""),
      {"tensor 'x'", "too many"});
}

TEST_F(Safetensors, MissingFileOrFolderAsFile) {
  expect_error([&] { read_safetensors(path); }, {"can't read", path.c_str(), "No such file"});
  expect_error([&] { read_safetensors(folder.path()); }, {"can't read", folder.path().c_str()});
}

TEST_F(Safetensors, FullDiskLeavesNoFile) {
  const bool refused = with_file_limit(300, [&] {
    try {
      write_safetensors(path, tensors, {});
    } catch (const Error& error) {
      return std::string(error.what()).find(path) != std::string::npos;
    }
    return false;
  });
  EXPECT_TRUE(refused);
  EXPECT_FALSE(std::filesystem::exists(path));
  expect_error([&] { write_safetensors("/dev/full", tensors, {}); }, {"/dev/full", "No space"});
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
}

}  // namespace
}  // namespace tutti
