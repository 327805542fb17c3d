// SPDX-License-Identifier: Apache-2.0
// A replica of a model and one batch for it, of one rank or of several.
#pragma once

#include "tutti/core/rng.h"
#include "tutti/parallel/partition.h"
#include "tutti/train/replica.h"
#include "tutti/train/replica_options.h"

#include <string>
#include <vector>

namespace tutti::test {

struct TrainingOptions {
  std::string model = "mlp";
  Settings settings = {};
  Shape sample = {1, 28, 28};
  std::int64_t batch = 32;
  std::string backend = "cpu";
  std::string precision = "f32";
  int threads = 1;
  std::set<std::string> without = {};
  std::function<Net(const NetInput&)> build = {};  // instead of `model`
  bool shard = false;                              // ranks update their own parts
};

class Training {
 public:
  explicit Training(const TrainingOptions& options, Communicator* communicator = nullptr)
      : models_(models()), rules_(rules()), replica_(replica_options(options, communicator)) {
    replica_.initialise(1);
    const int rank = communicator == nullptr ? 0 : communicator->rank();
    const int ranks = communicator == nullptr ? 1 : communicator->size();
    const std::int64_t local = options.batch / ranks;
    x_.resize(static_cast<std::size_t>(local * elements(options.sample)));
    for (std::size_t i = 0; i < x_.size(); ++i)
      x_[i] = static_cast<float>(normal(7, i + static_cast<std::size_t>(rank) * x_.size()));
    for (std::int64_t i = 0; i < local; ++i)
      labels_.push_back(static_cast<std::int32_t>((i + rank * local) % 10));
    weights_.assign(static_cast<std::size_t>(local), 1.0f / static_cast<float>(options.batch));
    batch_ = {options.batch, local, {x_.data(), labels_.data(), weights_.data()}};
  }

  StepResult step(double rate = 0.01) {
    const std::int64_t now = step_++;
    return replica_.step(batch_, {.step = now, .key = 1, .rate = rate});
  }
  Program& program() { return replica_.training_program(batch_.samples, batch_.local); }
  Replica& replica() { return replica_; }
  const BatchPointers& batch() const { return batch_; }
  std::vector<float>& x() { return x_; }
  std::vector<float>& sample_weights() { return weights_; }
  std::vector<float> gradient() const { return flat(replica_.gradients()); }
  std::vector<float> parameters() const { return flat(replica_.weights()); }

 private:
  ReplicaOptions replica_options(const TrainingOptions& options, Communicator* communicator) {
    ReplicaOptions made;
    made.build = [this, options](const NetInput& input) {
      return options.build ? options.build(input)
                           : build_net(models_.find(options.model), options.settings, input);
    };
    made.input = {.fields = input_and_labels(options.sample), .classes = 10};
    made.backend = options.backend;
    made.selection.precision = options.precision;
    made.threads = options.threads;
    made.without = options.without;
    made.closing.update.rule = &rules_.find("momentum");
    made.closing.update.rule_settings = resolve(made.closing.update.rule->settings, {}, "momentum");
    made.closing.scheme.store = stores().find(options.shard ? "sharded" : "all");
    made.communicator = communicator;
    if (communicator != nullptr) made.mesh = data_mesh(communicator->size());
    return made;
  }
  std::vector<float> flat(const void* data) const {
    const auto* first = static_cast<const float*>(data);
    return {first, first + replica_.table().count()};
  }

  List<Model> models_;
  List<Rule> rules_;
  Replica replica_;
  std::vector<float> x_, weights_;
  std::vector<std::int32_t> labels_;
  BatchPointers batch_;
  std::int64_t step_ = 0;
};

// Largest |a − b| relative to the largest |b|.
inline double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double scale = 1e-30, worst = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    scale = std::max(scale, static_cast<double>(std::abs(b[i])));
    worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
  }
  return worst / scale;
}

}  // namespace tutti::test
