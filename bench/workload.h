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
  std::string name, doc;  // name: that of the model; with "-bf16" behind it, products are in bf16
  NetInput input;
  std::int64_t batch = 128;
  Settings settings = {};    // settings of the model
  float rate = 0.01f;        // learning rate; momentum is 0.9
  std::int64_t batches = 1;  // how many different batches are used in turn

  std::string model() const { return name.substr(0, name.find('-')); }
  bool bf16() const { return name.find("-bf16") != std::string::npos; }
};

std::vector<Workload> workloads();

// The options of a Replica that trains the workload by momentum.
ReplicaOptions replica_options(const Workload& workload, const List<Model>& models,
                               const List<Rule>& rules, int threads);

// The work of a step of the whole batch.
Work work_of_step(Replica& replica, const Workload& workload);

// Writes the file that all sides read: weights by name, "batch.x", "batch.labels", "rate" and two
// counts.
void write_workload(const Workload& workload, const std::string& path);

// A rank's share of a batch.
struct Batch {
  std::vector<float> x, weights;
  std::vector<std::int32_t> labels;
  BatchPointers pointers = {};
};

// Reads that file: weights into the replica's flat vector, and a rank's share of a batch.
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
