// SPDX-License-Identifier: Apache-2.0
// The training steps that are timed: a model, its first weights and one batch, the same for us and
// for every peer, which read them from a file.
#pragma once

#include "tutti/train/replica.h"

#include "bench/records.h"

#include <string>
#include <vector>

namespace tutti::bench {

struct Workload {
  std::string name, doc;  // name: of the model; "-bf16" behind it: products in bf16
  NetInput input;
  std::int64_t batch = 128;
  Settings settings = {};    // of the model
  float rate = 0.01f;        // of the steps; momentum is 0.9
  std::int64_t batches = 1;  // different ones, used in turn

  std::string model() const { return name.substr(0, name.find('-')); }
  bool bf16() const { return name.find("-bf16") != std::string::npos; }
};

std::vector<Workload> workloads();

// Gives the networks that our side trains by momentum.
ReplicaOptions replica_options(const Workload& workload, const List<Model>& models,
                               const List<Rule>& rules, int threads);

// What a step of the whole batch computes.
Work work_of_step(Replica& replica, const Workload& workload);

// Weights by name, "batch.x", "batch.labels", "rate" and two counts.
void write_workload(const Workload& workload, const std::string& path);

// The part of a batch that one rank trains on.
struct Batch {
  std::vector<float> x, weights;
  std::vector<std::int32_t> labels;
  BatchPointers pointers = {};
};

// Reads the file: weights into the replica's flat vector, and the rank's part of the batch.
class WorkloadFile {
 public:
  explicit WorkloadFile(const std::string& path);
  void load_weights(Replica& replica) const;
  Batch batch(int rank, int ranks, std::int64_t number = 0) const;
  std::int64_t batches() const;
  double rate() const;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

}  // namespace tutti::bench
