// SPDX-License-Identifier: Apache-2.0
// Losses over samples. Each sample's loss goes to scratch memory and one thread adds them up, so
// the sum does not depend on the number of threads.
#include "tutti/ops/shared/losses.h"

#include "tutti/kernels/cpu/implementations.h"
#include "tutti/kernels/cpu/loops.h"
#include "tutti/kernels/cpu/parallel.h"
#include "tutti/ops/shared/labels.h"

#include <limits>

namespace tutti::cpu {
namespace {

struct Samples {
  std::int64_t count, features;
  int threads;

  // Shares samples out to threads; calls part(first, last) on each part.
  template <class Part>
  void for_each_part(const Part& part) const {
    parallel(count, 1 + 4096 / (features > 0 ? features : 1), threads, part);
  }
};

Samples samples_of(const Graph& graph, const Node& node, const KernelContext& context) {
  const Shape& shape = graph.shape(node.inputs[0]);
  return {shape[0], ops::features_of(shape), context.threads};
}

bool supports(const Graph& graph, const Node& node) {
  return graph.type(node.inputs[0]).dtype == DType::f32;
}

std::int64_t scratch(const Graph& graph, const Node& node) {
  return graph.shape(node.inputs[0])[0] * static_cast<std::int64_t>(sizeof(double));
}

const float* floats(const KernelArguments& arguments, int k) {
  return static_cast<const float*>(arguments.in[k]);
}

// Σ weights[n] · loss(n); the caller divides by the features where the loss is a mean over them.
template <class Loss>
double weighted_sum(const Samples& samples, const KernelArguments& arguments, const Loss& loss) {
  auto* of_sample = static_cast<double*>(arguments.scratch);
  samples.for_each_part([&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) of_sample[n] = loss(n);
  });
  double sum = 0;
  for (std::int64_t n = 0; n < samples.count; ++n)
    sum += static_cast<double>(floats(arguments, 2)[n]) * of_sample[n];
  return sum;
}

// The labels, checked before threads share the work: no exception may leave a thread.
const std::int32_t* checked_labels(const char* name, const Samples& samples,
                                   const KernelArguments& arguments) {
  const auto* labels = static_cast<const std::int32_t*>(arguments.in[1]);
  for (std::int64_t n = 0; n < samples.count; ++n)
    if (labels[n] < 0 || labels[n] >= samples.features)
      ops::label_at(name, {DType::i32, {samples.count}, arguments.in[1]}, n, samples.features);
  return labels;
}

Kernel make_cross_entropy(const Graph& graph, const Node& node, const KernelContext& context) {
  return [samples = samples_of(graph, node, context),
          smoothing = node.settings.real("smoothing")](const KernelArguments& arguments) {
    const std::int32_t* labels = checked_labels("softmax_cross_entropy", samples, arguments);
    const double sum = weighted_sum(samples, arguments, [&](std::int64_t n) {
      return loops().cross_entropy(floats(arguments, 0) + n * samples.features, samples.features,
                                   labels[n], smoothing);
    });
    *static_cast<float*>(arguments.out[0]) = static_cast<float>(sum);
  };
}

Kernel make_cross_entropy_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  return [samples = samples_of(graph, node, context),
          smoothing = node.settings.real("smoothing")](const KernelArguments& arguments) {
    const std::int32_t* labels = checked_labels("softmax_cross_entropy_grad", samples, arguments);
    samples.for_each_part([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n)
        loops().cross_entropy_grad(floats(arguments, 0) + n * samples.features, samples.features,
                                   labels[n], smoothing,
                                   *floats(arguments, 3) * floats(arguments, 2)[n],
                                   static_cast<float*>(arguments.out[0]) + n * samples.features);
    });
  };
}

Kernel make_squared_error(const Graph& graph, const Node& node, const KernelContext& context) {
  return [samples = samples_of(graph, node, context)](const KernelArguments& arguments) {
    const double sum = weighted_sum(samples, arguments, [&](std::int64_t n) {
      const std::int64_t first = n * samples.features;
      return loops().squared_error(floats(arguments, 0) + first, floats(arguments, 1) + first,
                                   samples.features);
    });
    *static_cast<float*>(arguments.out[0]) =
        static_cast<float>(sum / static_cast<double>(samples.features));
  };
}

Kernel make_huber(const Graph& graph, const Node& node, const KernelContext& context) {
  return
      [samples = samples_of(graph, node, context),
       delta = static_cast<float>(node.settings.real("delta"))](const KernelArguments& arguments) {
        const double sum = weighted_sum(samples, arguments, [&](std::int64_t n) {
          const std::int64_t first = n * samples.features;
          return loops().huber(floats(arguments, 0) + first, floats(arguments, 1) + first, delta,
                               samples.features);
        });
        *static_cast<float*>(arguments.out[0]) =
            static_cast<float>(sum / static_cast<double>(samples.features));
      };
}

// dp = dloss · weights[n] · factor / features · (p - t), cut off at ±delta.
Kernel make_difference(const Samples& samples, float factor, float delta) {
  return [=](const KernelArguments& arguments) {
    const float scale = *floats(arguments, 3) * factor / static_cast<float>(samples.features);
    samples.for_each_part([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t n = begin; n < end; ++n) {
        const std::int64_t first = n * samples.features;
        loops().clipped_difference(floats(arguments, 0) + first, floats(arguments, 1) + first,
                                   delta, scale * floats(arguments, 2)[n],
                                   static_cast<float*>(arguments.out[0]) + first, samples.features);
      }
    });
  };
}

Kernel make_squared_error_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  return make_difference(samples_of(graph, node, context), 2,
                         std::numeric_limits<float>::infinity());
}

Kernel make_huber_grad(const Graph& graph, const Node& node, const KernelContext& context) {
  return make_difference(samples_of(graph, node, context), 1,
                         static_cast<float>(node.settings.real("delta")));
}

Implementation loss(Kernel (*make)(const Graph&, const Node&, const KernelContext&)) {
  return {.name = "simd", .supports = supports, .make = make, .scratch_bytes = scratch};
}
Implementation gradient(Kernel (*make)(const Graph&, const Node&, const KernelContext&)) {
  return {.name = "simd", .supports = supports, .make = make, .in_place = true};
}

}  // namespace

Implementation softmax_cross_entropy() { return loss(make_cross_entropy); }
Implementation softmax_cross_entropy_grad() { return gradient(make_cross_entropy_grad); }
Implementation mean_squared_error() { return loss(make_squared_error); }
Implementation mean_squared_error_grad() { return gradient(make_squared_error_grad); }
Implementation huber() { return loss(make_huber); }
Implementation huber_grad() { return gradient(make_huber_grad); }

}  // namespace tutti::cpu
