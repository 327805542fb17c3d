// SPDX-License-Identifier: Apache-2.0
// One layer of the list alone, in double.
#pragma once

#include "tutti/nn/layer.h"

#include "nn/run_net.h"

#include <string>

namespace tutti::test {

struct Applied {
  Net net;
  ValueId y = no_value;
  const Shape& shape() const { return net.graph.shape(y); }

  // The output for x with these parameters.
  contract::Array output(const contract::Array& x, contract::Values values) const {
    values.insert_or_assign(net.input, x);
    return contract::evaluate(net.graph, values).at(y);
  }
  // The value of the parameter called "layer1.NAME".
  ValueId parameter(const std::string& name) const {
    for (std::size_t r = 0; r < net.table.ranges.size(); ++r)
      if (net.table.ranges[r].name.ends_with("." + name)) return net.parameters[r];
    throw std::logic_error("no parameter " + name);
  }
};

inline Applied applied(const char* layer, const Settings& settings, Shape shape,
                       bool training = true) {
  Applied result;
  result.net.dtype = DType::f64;
  result.net.training = training;
  result.net.input = result.net.graph.add_value("x", {DType::f64, std::move(shape)});
  result.y = result.net.apply(layers().find(layer), result.net.input, settings, "here");
  return result;
}

inline std::string layer_error(const char* layer, const Settings& settings, const Shape& shape) {
  return error_of([&] { applied(layer, settings, shape); });
}

}  // namespace tutti::test
