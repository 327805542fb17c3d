// SPDX-License-Identifier: Apache-2.0
// The contract of data sets: every entry that needs no files opens with its defaults and reads the
// same values whatever the order, batch and type.
#include "tutti/data/dataset.h"

#include "data/scratch.h"

namespace tutti::data {
namespace {

TEST(Datasets, AreListed) {
  EXPECT_EQ(datasets().names(), (std::vector<std::string>{"digits", "mnist", "idx", "synthetic"}));
  expect_error([] { datasets().find("minst"); }, {"data set 'minst'", "did you mean 'mnist'"});
  for (const DatasetEntry& entry : datasets()) EXPECT_FALSE(entry.doc.empty()) << entry.name;
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
  for (const DatasetEntry& entry : datasets())
    for (Split split : {Split::train, Split::test}) {
      SCOPED_TRACE(entry.name);
      const Settings given = entry.name == "idx" ? idx_files : Settings();
      const auto data = entry.open(resolve(entry.settings, given, "test"), split);
      EXPECT_EQ(data->name, entry.name);
      const std::int64_t n = elements(data->sample_shape), last = data->count - 1;
      ASSERT_GE(last, 1);
      const std::int64_t both[] = {last, 0};
      std::vector<float> x(2 * n), alone(n);
      std::vector<double> x64(2 * n);
      std::int32_t labels[2], label;
      data->read(both, {.x = x.data(), .labels = labels});
      data->read({both, 1}, {.x = alone.data(), .labels = &label});
      data->read(both, {.dtype = DType::f64, .x = x64.data()});
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), x.begin()));
      EXPECT_TRUE(std::equal(x.begin(), x.end(), x64.begin()));
      EXPECT_EQ(labels[0], label);
      EXPECT_TRUE(label >= 0 && label < data->classes);
      const std::int64_t outside[] = {data->count};
      EXPECT_THROW(data->read(outside, {}), std::logic_error);
    }
}

}  // namespace
}  // namespace tutti::data
