// SPDX-License-Identifier: Apache-2.0
// tutti tucker: replaces the kernel of a trained convolution by its Tucker factors (B32), so that a
// recipe in which the layer is a tucker_convolution can go on with fewer multiply–adds.
#include "tutti/nn/tucker.h"

#include "cli/commands.h"
#include "tutti/checkpoint/safetensors.h"

#include <CLI/CLI.hpp>

#include <cmath>
#include <memory>

namespace tutti::cli {
namespace {

struct TuckerArguments {
  std::string from, to, layer;
  std::int64_t in_rank = 0, out_rank = 0;
};

std::string path_of(const std::string& name) {
  return name.ends_with(".safetensors") ? name : name + ".safetensors";
}

std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  dispatch_float(tensor.dtype, [&](auto zero) {
    const auto* first = tensor.as<decltype(zero)>();
    values.assign(first, first + tensor.count());
  });
  return values;
}

// A tensor with its memory.
struct Owned {
  Buffer memory;
  NamedTensor named;
};
Owned tensor_of(std::string name, DType dtype, const Shape& shape,
                const std::vector<double>& values) {
  Owned result{Buffer(elements(shape) * bytes_of(dtype)), {std::move(name), {dtype, shape}}};
  result.named.tensor.data = result.memory.data();
  dispatch_float(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < values.size(); ++i)
      result.named.tensor.as<T>()[i] = static_cast<T>(values[i]);
  });
  return result;
}

int run_tucker(const TuckerArguments& options) {
  const SafetensorsFile file = read_safetensors(path_of(options.from));
  const std::string name = options.layer + ".weight";
  const Tensor* kernel = file.find(name);
  if (kernel == nullptr || !is_float(kernel->dtype))
    throw Error("{} has no floating-point tensor '{}': expected the name of a convolution",
                file.path, name);
  const std::vector<double> w = values_of(*kernel);
  const TuckerFactors factors = tucker(kernel->shape, w, options.in_rank, options.out_rank);
  std::vector<Owned> made;
  made.push_back(
      tensor_of(options.layer + ".first", kernel->dtype, factors.first_shape, factors.first));
  made.push_back(
      tensor_of(options.layer + ".core", kernel->dtype, factors.core_shape, factors.core));
  made.push_back(
      tensor_of(options.layer + ".last", kernel->dtype, factors.last_shape, factors.last));
  std::vector<NamedTensor> tensors;
  for (const NamedTensor& tensor : file.tensors)
    if (tensor.name != name) tensors.push_back(tensor);
  std::size_t parameters = 0;
  for (const Owned& tensor : made) {
    tensors.push_back(tensor.named);
    parameters += static_cast<std::size_t>(tensor.named.tensor.count());
  }
  Metadata metadata = file.metadata;
  metadata.erase("recipe");  // the recipe describes the network before the change
  write_safetensors(path_of(options.to), tensors, metadata);
  double square = 0;
  for (double value : w) square += value * value;
  fmt::print("{}: {} becomes {} parameters, relative error at most {:.4g}\n", name, w.size(),
             parameters, std::sqrt(factors.error_bound / square));
  return 0;
}

std::function<int()> add_tucker(CLI::App& app) {
  const auto options = std::make_shared<TuckerArguments>();
  app.add_option("from", options->from, "trained weights, NAME or NAME.safetensors")->required();
  app.add_option("layer", options->layer, "the convolution's name")->required();
  app.add_option("in_rank", options->in_rank, "channels into the inner convolution")->required();
  app.add_option("out_rank", options->out_rank, "channels out of it")->required();
  app.add_option("to", options->to, "where the new weights go")->required();
  app.footer(R"(The layer then is one of type "tucker_convolution" with ranks = [IN_RANK, OUT_RANK].

Examples:
  tutti tucker runs/my/checkpoint conv2 8 16 runs/my/smaller
  tutti eval smaller.toml --weights runs/my/smaller)");
  return [options] { return run_tucker(*options); };
}

}  // namespace

const Command tucker_command{"tucker", "a convolution's kernel as three smaller ones", add_tucker};

}  // namespace tutti::cli
