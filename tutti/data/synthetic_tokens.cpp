// SPDX-License-Identifier: Apache-2.0
// A token is a number below the vocabulary; its class is the remainder of a division by the number
// of classes. The label of a sample is the class of most of its tokens. The label of a token is its
// class, or the next one where the sample's first feature is positive: a network needs both inputs
// to learn that. Nothing is stored.
#include "tutti/data/synthetic_tokens.h"

#include "tutti/core/rng.h"
#include "tutti/data/buckets.h"

#include <algorithm>

namespace tutti::data {
namespace {

// The probability that a token gets the class of its sample; else it is any token.
constexpr double same_class = 0.7;

class SyntheticTokens : public Dataset {
 public:
  SyntheticTokens(const Settings& settings, Split split)
      : key_(fold(mix(static_cast<std::uint64_t>(settings.integer("seed"))),
                  split == Split::train ? training : testing)),
        vocabulary_(settings.integer("vocabulary")),
        shortest_(settings.integer("shortest")),
        longest_(settings.integer("longest")) {
    name = "tokens";
    count = settings.integer(split == Split::train ? "count" : "test_count");
    classes = settings.integer("classes");
    if (shortest_ > longest_)
      throw Error("data set tokens: 'shortest' is {} and 'longest' is {}, expected no less",
                  shortest_, longest_);
    if (classes > vocabulary_)
      throw Error(
          "data set tokens: there are {} classes, expected at most the {} tokens of the "
          "vocabulary",
          classes, vocabulary_);
    buckets = buckets_of(settings, longest_);
    const bool per_token = settings.text("answers") == "token";
    fields = with_capacity(
        {{.name = "input", .dtype = DType::i32, .unit = Field::token},
         {.name = "labels", .dtype = DType::i32, .unit = per_token ? Field::token : Field::sample},
         {.name = "lengths", .dtype = DType::i32},
         {.name = "features", .shape = {settings.integer("features")}}},
        buckets.back());
  }

  std::int64_t tokens(std::int64_t index) const override {
    const auto range = static_cast<std::uint64_t>(longest_ - shortest_ + 1);
    return shortest_ + static_cast<std::int64_t>(draw(fold(key_, lengths), index) % range);
  }

  void read(std::span<const std::int64_t> indices, const Samples& into) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      check(indices[i] >= 0 && indices[i] < count, "a sample index lies inside the data set");
      read_tokens(indices[i], i, into);
      if (into.fields[length] != nullptr)
        static_cast<std::int32_t*>(into.fields[length])[i] =
            static_cast<std::int32_t>(tokens(indices[i]));
      if (into.fields[feature] == nullptr) continue;
      dispatch_float(into.dtype, [&](auto zero) {
        const std::int64_t each = fields[feature].shape[0];
        auto* x = static_cast<decltype(zero)*>(into.fields[feature]) + i * each;
        for (std::int64_t k = 0; k < each; ++k) x[k] = feature_at(indices[i], k);
      });
    }
  }

 private:
  enum Stream : std::uint64_t { training, testing, lengths, features, choices };
  enum Place : std::size_t { input, labels, length, feature };  // index in `fields`

  // A float, so that f32 and f64 read the same.
  float feature_at(std::int64_t index, std::int64_t k) const {
    return static_cast<float>(2 * uniform(fold(fold(key_, features), index), k) - 1);
  }

  std::int32_t token_at(std::uint64_t sample, std::int64_t index, std::int64_t t) const {
    const auto any =
        static_cast<std::int64_t>(draw(sample, 2 * t) % static_cast<std::uint64_t>(vocabulary_));
    if (uniform(sample, 2 * t + 1) >= same_class) return static_cast<std::int32_t>(any);
    const std::int64_t own = any / classes * classes + index % classes;
    return static_cast<std::int32_t>(own < vocabulary_ ? own : index % classes);
  }

  // Writes tokens and labels of the sample at `index`, as the i-th that is read.
  void read_tokens(std::int64_t index, std::size_t i, const Samples& into) const {
    const std::uint64_t sample = fold(fold(key_, choices), index);
    const auto room = static_cast<std::size_t>(into.tokens);
    auto* x = static_cast<std::int32_t*>(into.fields[input]);
    auto* y = static_cast<std::int32_t*>(into.fields[labels]);
    const bool per_token = fields[labels].unit == Field::token;
    if (y != nullptr && !per_token) y[i] = static_cast<std::int32_t>(index % classes);
    if (y != nullptr && per_token) std::fill_n(y + i * room, room, 0);
    if (x != nullptr) std::fill_n(x + i * room, room, 0);
    const std::int64_t shift = fields[feature].shape[0] > 0 && feature_at(index, 0) > 0 ? 1 : 0;
    check(tokens(index) <= into.tokens, "there is room for all tokens of a sample");
    for (std::int64_t t = 0; t < tokens(index); ++t) {
      const std::int32_t token = token_at(sample, index, t);
      if (x != nullptr) x[i * room + t] = token;
      if (y != nullptr && per_token)
        y[i * room + t] = static_cast<std::int32_t>((token + shift) % classes);
    }
  }

  std::uint64_t key_;
  std::int64_t vocabulary_, shortest_, longest_;
};

Setting number(std::string name, std::int64_t initial, std::string doc, double min, double max) {
  return {
      .name = std::move(name), .initial = initial, .doc = std::move(doc), .min = min, .max = max};
}

}  // namespace

DatasetEntry synthetic_tokens() {
  constexpr double many = 1e15;
  return {.name = "tokens",
          .doc =
              "random sequences of tokens ('input') with numbers beside them ('features'), a "
              "class for each sequence or each token",
          .settings = joined({{number("vocabulary", 20, "different tokens", 1, 1e9),
                               number("shortest", 2, "tokens of a sample at least", 1, 1e6),
                               number("longest", 12, "tokens of a sample at most", 1, 1e6),
                               number("features", 2, "numbers beside the tokens", 1, 1e6),
                               number("classes", 3, "classes of samples, or of tokens", 1, 1e9),
                               {.name = "answers",
                                .initial = std::string("sample"),
                                .doc = "whether each sample or each token has a label",
                                .choices = {"sample", "token"}},
                               number("count", 1024, "training samples", 1, many),
                               number("test_count", 256, "test samples", 1, many),
                               number("seed", 0, "of the samples", 0, many)},
                              bucket_settings()}),
          .open = [](const Settings& settings, Split split) -> std::unique_ptr<Dataset> {
            return std::make_unique<SyntheticTokens>(settings, split);
          }};
}

}  // namespace tutti::data
