// SPDX-License-Identifier: Apache-2.0
#include "bench/workload.h"

#include "tutti/checkpoint/safetensors.h"
#include "tutti/core/rng.h"

#include "bench/time_operator.h"

#include <cstring>

namespace tutti::bench {

// Without dropout, whose masks every side draws in its own way, and without local response
// normalisation, which PyTorch computes slowly.
std::vector<Workload> workloads() {
  const NetInput digits{.fields = input_and_labels({1, 28, 28}), .classes = 10};
  const NetInput cifar{.fields = input_and_labels({3, 32, 32}), .classes = 10};
  const NetInput imagenet{.fields = input_and_labels({3, 224, 224}), .classes = 1000};
  return {{"mlp", "784-1024-1024-10", digits},
          {"lenet", "1×28×28", digits},
          {"resnet20", "3×32×32", cifar},
          {"resnet18", "3×224×224", imagenet, 16},
          {"resnet50", "3×224×224", imagenet, 8},
          {"alexnet", "3×224×224", imagenet, 32, {{"lrn", false}, {"dropout", 0.0}}},
          {"vgg16", "3×224×224", imagenet, 4, {{"dropout", 0.0}}, 0.001f},  // 0.01 diverges
          {"googlenet", "3×224×224", imagenet, 16, {{"lrn", false}, {"dropout", 0.0}}},
          {"densenet121", "3×224×224", imagenet, 8},
          {"mobilenet", "3×224×224", imagenet, 16},
          {"resnet18-bf16", "3×224×224", imagenet, 16},
          {"resnet50-bf16", "3×224×224", imagenet, 8}};
}

ReplicaOptions replica_options(const Workload& workload, const List<Model>& models,
                               const List<Rule>& rules, int threads) {
  const Rule& momentum = rules.find("momentum");
  ReplicaOptions options;
  options.build = [&model = models.find(workload.model()), settings = workload.settings](
                      const NetInput& input) { return build_net(model, settings, input); };
  options.input = workload.input;
  options.threads = threads;
  options.batch = workload.batch;
  if (workload.bf16()) options.selection.precision = "bf16";
  options.closing.update.rule = &momentum;
  options.closing.update.rule_settings = resolve(momentum.settings, {}, "momentum");
  return options;
}

Work work_of_step(Replica& replica, const Workload& workload) {
  const Graph& graph = replica.training_program(workload.batch, workload.batch).graph();
  Work sum;
  for (const Node& node : graph.nodes) {
    const Work one = work_of(graph, node);
    sum.flops += one.flops;
    sum.bytes += one.bytes;
  }
  return sum;
}

void write_workload(const Workload& workload, const std::string& path) {
  const List<Model> all = models();
  NetInput input = workload.input;
  input.batch = workload.batch;
  const Net net = build_net(all.find(workload.model()), workload.settings, input);
  Buffer w(net.table.count() * bytes_of(net.dtype));
  initialise(net, 1, w.data());
  std::vector<NamedTensor> tensors;
  for (const Range& range : net.table.ranges)
    tensors.push_back(
        {range.name, {net.dtype, range.shape, w.data() + range.offset * bytes_of(net.dtype)}});
  Shape x_shape = net.graph.shape(net.input);
  x_shape[0] *= workload.batches;
  std::vector<float> x(static_cast<std::size_t>(elements(x_shape)));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(normal(7, i));
  std::vector<std::int32_t> labels(static_cast<std::size_t>(x_shape[0]));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(input.classes));
  std::int32_t counts[] = {static_cast<std::int32_t>(input.classes),
                           static_cast<std::int32_t>(workload.batches)};
  float rate = workload.rate;
  tensors.push_back({"rate", {DType::f32, {1}, &rate}});
  tensors.push_back({"classes", {DType::i32, {1}, &counts[0]}});
  tensors.push_back({"batches", {DType::i32, {1}, &counts[1]}});
  tensors.push_back({"batch.x", {DType::f32, x_shape, x.data()}});
  tensors.push_back({"batch.labels", {DType::i32, {x_shape[0]}, labels.data()}});
  write_safetensors(path, tensors, {});
}

struct WorkloadFile::Content {
  SafetensorsFile file;

  const Tensor& tensor(const std::string& name) const {
    const Tensor* found = file.find(name);
    if (found == nullptr) throw Error("{}: there is no tensor '{}'", file.path, name);
    return *found;
  }
};

WorkloadFile::WorkloadFile(const std::string& path)
    : content_(std::make_shared<Content>(Content{read_safetensors(path)})) {}

void WorkloadFile::load_weights(Replica& replica) const {
  auto* weights = static_cast<std::byte*>(replica.weights());
  for (const Range& range : replica.table().ranges) {
    const Tensor& tensor = content_->tensor(range.name);
    replica.device().copy_in(weights + range.offset * bytes_of(replica.dtype()), tensor.data,
                             tensor.bytes());
  }
}

std::int64_t WorkloadFile::batches() const {
  return *content_->tensor("batches").as<std::int32_t>();
}

double WorkloadFile::rate() const {
  return static_cast<double>(*content_->tensor("rate").as<float>());
}

Batch WorkloadFile::batch(int rank, int ranks, std::int64_t number) const {
  const Tensor &x = content_->tensor("batch.x"), &labels = content_->tensor("batch.labels");
  const std::int64_t samples = labels.count() / batches(), local = samples / ranks;
  const std::int64_t per_sample = x.count() / labels.count();
  const std::int64_t first = number * samples + rank * local;
  Batch part;
  part.x.assign(x.as<float>() + first * per_sample, x.as<float>() + (first + local) * per_sample);
  part.labels.assign(labels.as<std::int32_t>() + first, labels.as<std::int32_t>() + first + local);
  part.weights.assign(static_cast<std::size_t>(local), 1.0f / static_cast<float>(samples));
  part.pointers = {samples, local, {part.x.data(), part.labels.data(), part.weights.data()}};
  return part;
}

}  // namespace tutti::bench
