// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/variance_batch.h"

#include <sstream>

namespace tutti {
namespace {

std::vector<double> gradient_of(const Replica& replica) {
  return dispatch_float(replica.dtype(), [&](auto zero) {
    std::vector<decltype(zero)> values(static_cast<std::size_t>(replica.table().count()));
    replica.device().copy_out(values.data(), replica.gradients(),
                              replica.table().count() * bytes_of(replica.dtype()));
    return std::vector<double>(values.begin(), values.end());
  });
}

}  // namespace

VarianceBatch::VarianceBatch(const Settings& optimizer, std::int64_t batch, const Replica& replica,
                             Communicator& communicator)
    : replica_(replica), communicator_(communicator), choice_(optimizer, batch) {
  if (communicator.size() == 1) return;
  const CollectiveArgs args{.dtype = DType::f64,
                            .count = static_cast<std::int64_t>(sums_.size()),
                            .tag = communicator.tags().of({.what = "variance of the gradient"}),
                            .fixed_order = true,
                            .what = "the variance of the gradient"};
  sum_of_ranks_ = choose(allreduces(), "auto", communicator, args).make(communicator, args);
}

void VarianceBatch::after_micro_batch(const data::Batch& batch, double loss_scale) {
  std::vector<double> g = gradient_of(replica_);
  so_far_.resize(g.size());
  // ‖ ‖² of what this micro-batch has added: its samples' summands of the mean over the batch.
  double square = 0;
  for (const Range& range : replica_.table().ranges) {
    if (!range.trainable) continue;  // nobody writes its gradient
    for (auto i = static_cast<std::size_t>(range.offset); i < static_cast<std::size_t>(range.end());
         ++i) {
      const double own = (g[i] - so_far_[i]) / loss_scale;
      square += own * own;
    }
  }
  so_far_ = std::move(g);
  const double inverse_count = 1 / static_cast<double>(batch.count());
  const double part = static_cast<double>(batch.total) * inverse_count;
  sums_[0] += square * part * part;
  sums_[1] += inverse_count;
  sums_[2] += 1;
}

std::optional<std::int64_t> VarianceBatch::after_step(const StepResult& result,
                                                      std::int64_t samples) {
  if (sum_of_ranks_ != nullptr) {
    sum_of_ranks_->start(sums_.data());
    wait(*sum_of_ranks_, communicator_);
  }
  const std::array<double, 3> sums = std::exchange(sums_, {});
  so_far_.clear();
  if (result.skipped) return std::nullopt;
  const std::int64_t before = choice_.batch();
  const std::int64_t next =
      choice_.after_step({.parts = sums[0] / sums[2],
                          .inverse_counts = sums[1] / sums[2],
                          .whole = result.gradient_norm * result.gradient_norm,
                          .samples = samples});
  if (next == before) return std::nullopt;
  return next;
}

std::string VarianceBatch::note(const std::vector<data::BatchChange>& changes) const {
  std::string text = choice_.note();
  for (const data::BatchChange& change : changes)
    text += fmt::format(" {} {}", change.step, change.batch);
  return text;
}

std::vector<data::BatchChange> VarianceBatch::restore(const std::string& note) {
  choice_.restore(note);
  std::istringstream words(note);
  std::string choice[4];
  for (std::string& word : choice) words >> word;
  std::vector<data::BatchChange> changes;
  for (data::BatchChange change; words >> change.step >> change.batch;) changes.push_back(change);
  return changes;
}

}  // namespace tutti
