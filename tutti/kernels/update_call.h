// SPDX-License-Identifier: Apache-2.0
// The arguments of an `update` or `measure` node. What the node's settings say is read once; in
// each step only pointers and StepState change.
#pragma once

#include "tutti/kernels/implementation.h"
#include "tutti/ops/update.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tutti {

class UpdateCall {
 public:
  // The vectors are worked on in chunks of this many elements: a chunk is checked for finite
  // gradients and updated while it is in the cache.
  static constexpr std::int64_t block = 4096;

  UpdateCall(const Graph& graph, const Node& node)
      : settings_(node.settings),
        numbers_(node.settings.reals("hyper")),
        dtype_(graph.type(node.inputs[0]).dtype),
        count_(elements(graph.shape(node.inputs[0]))),
        states_(ops::state_blocks(node.settings, node.inputs.size())),
        has_norm_(ops::has_norm(node.settings)),
        has_squares_(ops::has_squares(node.settings)),
        rate_multiplier_(node.settings.real("rate_multiplier")),
        clip_norm_(node.settings.real("clip_norm")),
        guarded_(node.settings.flag("guarded")),
        row_width_(node.settings.integer("row_width")),
        named_rows_(row_width_ == 0 ? 0
                                    : elements(graph.shape(
                                          node.inputs[static_cast<std::size_t>(2 + states_)]))),
        word_(ops::has_guard(node.settings) ? static_cast<int>(node.inputs.size()) - 1 : -1),
        square_sums_(static_cast<std::size_t>((count_ + block - 1) / block)) {
    hyper_.weight_decay = node.settings.real("weight_decay");
    hyper_.clip_value = node.settings.real("clip_value");
    hyper_.rule = numbers_.data();
  }

  // Inputs: g, w, states…, squares?, norm?, rows?, word?; outputs of update: w, states…, Σ g². The
  // new w and states overwrite the old ones.
  UpdateArgs prepare(const KernelArguments& arguments) {
    hyper_.rate = arguments.step->rate * rate_multiplier_;
    hyper_.step = arguments.step->step - arguments.step->skipped + 1;
    hyper_.scale = 1 / arguments.step->loss_scale;
    if (has_norm_) {
      const void* norm = arguments.in[2 + states_ + (has_squares_ ? 1 : 0)];
      norm_ = dtype_ == DType::f32 ? static_cast<double>(*static_cast<const float*>(norm))
                                   : *static_cast<const double*>(norm);
      const double unscaled = norm_ / arguments.step->loss_scale;
      if (clip_norm_ > 0 && unscaled > clip_norm_)
        hyper_.scale = clip_norm_ / unscaled / arguments.step->loss_scale;
    }
    if (has_squares_) hyper_.squares = static_cast<const double*>(arguments.in[2 + states_]);
    stopped_ = word_ >= 0 && *static_cast<const std::int64_t*>(arguments.in[word_]) != 0;
    return {dtype_, arguments.in[1], arguments.in[0], arguments.in + 2, count_, hyper_};
  }
  // Whether weights may change. They may not after a bad step; nor where another part of the same
  // range has a gradient that is not finite (squares); nor, when guarded, where the norm of the
  // whole gradient is not finite.
  bool may_update() const {
    if (stopped_ || (guarded_ && !std::isfinite(norm_))) return false;
    return !has_squares_ || std::isfinite(hyper_.squares[0] + hyper_.squares[1]);
  }
  double* square_sum(const KernelArguments& arguments) const {
    return static_cast<double*>(arguments.out[1 + states_]);
  }

  std::vector<double>& square_sums() { return square_sums_; }
  int states() const { return states_; }
  std::int64_t row_width() const { return row_width_; }  // 0: all rows change
  std::int64_t named_rows() const { return named_rows_; }
  // The numbers of the rows that change.
  const std::int32_t* rows(const KernelArguments& arguments) const {
    return static_cast<const std::int32_t*>(arguments.in[2 + states_]);
  }
  std::int64_t blocks() const { return static_cast<std::int64_t>(square_sums_.size()); }

 private:
  Settings settings_;
  std::vector<double> numbers_;
  DType dtype_;
  std::int64_t count_;
  int states_;
  bool has_norm_, has_squares_;
  double rate_multiplier_, clip_norm_, norm_ = 0;
  bool guarded_;
  std::int64_t row_width_, named_rows_;
  int word_;              // index of the input that is the word of guard; -1: none
  bool stopped_ = false;  // the word of guard says that there was a bad step
  std::vector<double> square_sums_;
  Hyper hyper_;
};

}  // namespace tutti
