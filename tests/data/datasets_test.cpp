// SPDX-License-Identifier: Apache-2.0
// The contract of data sets: every entry that needs no files opens with its defaults and reads the
// same values whatever the order, batch and type.
#include "tutti/core/tensor.h"
#include "tutti/data/dataset.h"

#include "data/image_files.h"

#include <map>
#include <span>

namespace tutti::data {
namespace {

TEST(Datasets, AreListed) {
  EXPECT_EQ(datasets().names(),
            (std::vector<std::string>{"digits", "mnist", "cifar10", "cifar100", "idx", "folder",
                                      "csv", "npy", "synthetic", "tokens"}));
  expect_error([] { datasets().find("minst"); }, {"data set 'minst'", "did you mean 'mnist'"});
  for (const DatasetEntry& entry : datasets()) EXPECT_FALSE(entry.doc.empty()) << entry.name;
}

// Samples as a data set reads them, every field in memory of its own.
struct Read {
  Read(const Dataset& data, std::span<const std::int64_t> indices, DType dtype = DType::f32)
      : fields(data.fields) {
    Samples into{.dtype = dtype, .tokens = token_capacity(fields)};
    for (Field& field : fields) {
      if (is_float(field.dtype)) field.dtype = dtype;
      const auto count = static_cast<std::int64_t>(indices.size());
      into.fields.add(buffers.emplace_back(count * bytes_of(field)).data());
    }
    data.read(indices, into);
  }
  // Element i of field k.
  double at(std::size_t k, std::int64_t i) const {
    const auto value = [&](auto type) {
      return static_cast<double>(reinterpret_cast<decltype(type)*>(buffers[k].data())[i]);
    };
    switch (fields[k].dtype) {
      case DType::f32:
        return value(float{});
      case DType::f64:
        return value(double{});
      case DType::u8:
        return value(std::uint8_t{});
      default:
        return value(std::int32_t{});
    }
  }
  Fields fields;
  std::vector<Buffer> buffers;
};

// What index i holds is the same wherever it is read to, in float and in double; labels are below
// the classes; tokens that are not there are zeros.
void expect_samples(const Dataset& data) {
  const std::int64_t last = data.count - 1;
  ASSERT_GE(last, 1);
  const std::int64_t both[] = {last, 0};
  const Read together(data, both), alone(data, {both, 1}), wide(data, both, DType::f64);
  for (std::size_t k = 0; k < data.fields.size(); ++k) {
    const Field& field = data.fields[k];
    const std::int64_t each = elements(sample_shape(field)), unit = elements(field.shape);
    for (std::int64_t i = 0; i < 2 * each; ++i) {
      const double value = together.at(k, i);
      EXPECT_EQ(value, wide.at(k, i)) << field.name;
      EXPECT_TRUE(i >= each || value == alone.at(k, i)) << field.name;
      EXPECT_TRUE(field.name != "labels" || (value >= 0 && value < data.classes));
      EXPECT_TRUE(field.name != "lengths" || value == data.tokens(both[i]));
      const bool padding =
          field.unit == Field::token && i % each / unit >= data.tokens(both[i / each]);
      EXPECT_TRUE(!padding || value == 0) << field.name;
    }
  }
  EXPECT_EQ(token_capacity(data.fields), data.buckets.empty() ? 0 : data.buckets.back());
  const std::int64_t outside[] = {data.count};
  EXPECT_THROW(data.read(outside, {}), std::logic_error);
}

TEST(Datasets, Contract) {
  const Scratch scratch;
  const Environment folder("TUTTI_DATA", scratch.folder().c_str());
  for (const std::string part : {"train", "t10k"}) {
    scratch.write("mnist/" + part + "-images-idx3-ubyte", idx_bytes({9, 28, 28}, counting(7056)));
    scratch.write("mnist/" + part + "-labels-idx1-ubyte", idx_bytes({9}, counting(9)));
  }
  const auto file = [&](const char* name) { return (scratch.folder() / "mnist" / name).string(); };
  const Settings idx_files = {{"images", file("train-images-idx3-ubyte")},
                              {"labels", file("train-labels-idx1-ubyte")},
                              {"test_images", file("t10k-images-idx3-ubyte")},
                              {"test_labels", file("t10k-labels-idx1-ubyte")}};
  for (const char* name :
       {"cifar10/data_batch_1.bin", "cifar10/data_batch_2.bin", "cifar10/data_batch_3.bin",
        "cifar10/data_batch_4.bin", "cifar10/data_batch_5.bin", "cifar10/test_batch.bin"})
    scratch.write(name, Bytes(2 * 3073, 3));
  for (const char* name : {"cifar100/train.bin", "cifar100/test.bin"})
    scratch.write(name, Bytes(2 * 3074, 3));
  for (const char* name : {"images/a/1.png", "images/a/2.png", "images/b/1.png", "images/b/2.png"})
    scratch.write(name, png_bytes(3, 3, PNG_FORMAT_GRAY, counting(9)));
  const std::string table = "1,2,0\n3,4,1\n5,6,0\n7,8,1\n";
  scratch.write("mnist/table.csv", Bytes(table.begin(), table.end()));
  const std::string array = "\x93NUMPY\x01" + std::string("\0\x37\0", 3) +
                            "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}";
  Bytes array_bytes(array.begin(), array.end());
  array_bytes.insert(array_bytes.end(), {0, 1, 1, 0});
  scratch.write("mnist/array.npy", array_bytes);
  const std::map<std::string, Settings> given = {
      {"idx", idx_files},
      {"folder", {{"folder", file("../images")}, {"test_fraction", 0.5}}},
      {"csv", {{"file", file("table.csv")}, {"classes", std::int64_t{2}}, {"test_fraction", 0.5}}},
      {"npy",
       {{"x", file("array.npy")},
        {"y", file("array.npy")},
        {"classes", std::int64_t{2}},
        {"test_fraction", 0.5}}}};
  for (const DatasetEntry& entry : datasets())
    for (Split split : {Split::train, Split::test}) {
      SCOPED_TRACE(entry.name);
      const auto own = given.find(entry.name);
      const auto data = entry.open(
          resolve(entry.settings, own == given.end() ? Settings() : own->second, "test"), split);
      EXPECT_EQ(data->name, entry.name);
      expect_samples(*data);
    }
}

}  // namespace
}  // namespace tutti::data
