// SPDX-License-Identifier: Apache-2.0
// Data of one's own, with fields of one's own, and a network that takes them by name. Machines
// report measurements, each a pair of numbers, some more than others; a byte says which kind of
// machine it is. To predict is whether its measurements rise, or, for machines of the second kind,
// fall.
#include "tutti/data/buckets.h"
#include "tutti/nn/layer.h"
#include "tutti/ops/add.h"
#include "tutti/recipe/make_job.h"
#include "tutti/train/train.h"

#include <fmt/format.h>

using namespace tutti;

namespace {

// Measurements are tokens: a machine has 3 to 9 of them.
class Machines : public data::Dataset {
 public:
  Machines(const Settings& settings, data::Split split)
      : first_(split == data::Split::train ? 0 : 1'000'000) {
    name = "machines";
    count = settings.integer("count");
    classes = 2;
    buckets = data::buckets_of(settings, 9);
    fields = with_capacity({{.name = "input", .shape = {2}, .unit = Field::token},
                            {.name = "labels", .dtype = DType::i32},
                            {.name = "lengths", .dtype = DType::i32},
                            {.name = "kind", .dtype = DType::u8}},
                           buckets.back());
  }

  std::int64_t tokens(std::int64_t index) const override { return 3 + number(index, 0) % 7; }

  void read(std::span<const std::int64_t> indices, const data::Samples& into) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t index = indices[i];
      const bool rises = number(index, 1) % 2 == 1, second_kind = number(index, 2) % 2 == 1;
      static_cast<std::int32_t*>(into.fields[1])[i] = rises != second_kind ? 1 : 0;
      static_cast<std::int32_t*>(into.fields[2])[i] = static_cast<std::int32_t>(tokens(index));
      static_cast<std::uint8_t*>(into.fields[3])[i] = second_kind ? 1 : 0;
      dispatch_float(into.dtype, [&](auto zero) {
        using T = decltype(zero);
        T* pair = static_cast<T*>(into.fields[0]) + static_cast<std::int64_t>(i) * into.tokens * 2;
        std::fill_n(pair, into.tokens * 2, T{0});  // the padding
        for (std::int64_t t = 0; t < tokens(index); ++t, pair += 2) {
          const auto time = static_cast<T>(t);
          pair[0] = time / 4 - 1;
          pair[1] = (rises ? time : -time) / 4 + static_cast<T>(number(index, 10 + t) % 100) / 200;
        }
      });
    }
  }

 private:
  // The same number whenever it is asked for.
  std::int64_t number(std::int64_t index, std::int64_t k) const {
    const auto bits = static_cast<std::uint64_t>((first_ + index) * 100 + k) * 0x9e3779b97f4a7c15;
    return static_cast<std::int64_t>(bits >> 40);
  }

  std::int64_t first_;
};

const data::DatasetEntry machines{
    .name = "machines",
    .doc = "measurements of machines",
    .settings = joined({{{.name = "count", .initial = std::int64_t{400}, .doc = "machines"}},
                        data::bucket_settings()}),
    .open = [](const Settings& settings, data::Split split) -> std::unique_ptr<data::Dataset> {
      return std::make_unique<Machines>(settings, split);
    }};

// A layer on every measurement, which is told the kind of the machine; then their mean.
const Model judge{
    .name = "judge",
    .doc = "measurements and the kind of the machine",
    .build =
        [](Net& net, ValueId x, const Settings&) {
          x = net.apply(nn::relu, net.apply(nn::linear, x, {{"units", 16}}));
          x = net.apply(nn::token_mean, x);
          ValueId kind = net.apply(nn::reshape, net.real_field("kind"), {{"shape", Shape{1}}});
          kind = net.apply(nn::linear, kind, {{"units", 16}, {"name", "kind"}});
          x = net.layer("join", "add", [&] { return net.graph.add1(ops::add, {x, kind}); });
          x = net.apply(nn::relu, net.apply(nn::linear, x, {{"units", 16}}));
          return net.apply(nn::linear, x, {{"units", elements(net.output_shape)}});
        },
};

constexpr const char* recipe = R"(
[model]
name = "judge"

[data]
name = "machines"
buckets = [4, 6, 9]

[train]
epochs = 30
batch = 16
checkpoint = "none"
record = "none"

[optimizer]
rule = "adam"
rate = 0.01

[partition]
data = 2
)";

}  // namespace

int main() {
  Lists lists = default_lists();
  lists.datasets.add(machines);
  lists.models.add(judge);
  TrainOptions options;
  options.print = [](const std::string& line) { fmt::print("{}\n", line); };
  return train(make_job(parse_recipe(recipe, "own_data.toml"), lists), options).test_accuracy > 0.9
             ? 0
             : 1;
}
