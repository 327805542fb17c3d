// SPDX-License-Identifier: Apache-2.0
// A network is made in three parts: the batch, the model or chain of layers, the loss and the
// metric.
#include "tutti/nn/layer.h"
#include "tutti/nn/net.h"
#include "tutti/ops/absolute_error.h"
#include "tutti/ops/accuracy.h"
#include "tutti/ops/reshape.h"

#include <fmt/ranges.h>

namespace tutti {
namespace {

Shape with_batch(std::int64_t batch, const Shape& sample) {
  Shape shape{batch};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

// Adds a batch of the field as an input of the graph, in the next batch slot.
void add_batch_slot(Graph& graph, const Field& field, std::int64_t batch) {
  Shape shape = with_batch(batch, sample_shape(field));
  if (!is_countable(shape))
    throw Error(
        "a batch of {} samples of {} has more than the {} elements that a tensor may have: "
        "expected a smaller train.batch or smaller samples ([data])",
        batch, to_string(sample_shape(field)), most_elements);
  const int slot = static_cast<int>(graph.batch.size());
  graph.batch.push_back(
      graph.add_value(field.name, {field.dtype, std::move(shape)}, {Base::inputs + slot, 0}));
}

// x with a row for each sample, or for each token of all samples, which makes n·t rows.
ValueId in_rows(Net& net, ValueId x, Field::Unit unit) {
  if (unit == Field::sample) return x;
  Shape shape = net.graph.shape(x);
  shape.erase(shape.begin());
  shape[0] = -1;
  return net.graph.add1(ops::reshape, {x}, {{"shape", shape}});
}

Net begin_net(const NetInput& input) {
  check(input.batch > 0 && is_float(input.dtype), "a batch has samples of a floating-point type");
  Net net;
  net.dtype = input.dtype;
  net.training = input.training;
  net.classes = input.classes;
  const Field& answers = answers_in(input.fields);
  net.output_shape = input.classes > 0 ? Shape{input.classes} : answers.shape;
  net.fields = batch_fields(input.fields, input.dtype);
  for (const Field& field : net.fields) add_batch_slot(net.graph, field, input.batch);
  net.input = net.field("input");
  net.labels = in_rows(net, net.field(answers.name), answers.unit);
  net.weights = in_rows(net, net.field("weights"), answers.unit);
  return net;
}

void add_result(Net& net, ValueId id, const std::string& name) {
  net.graph.value(id).name = name;
  net.graph.value(id).place = {Base::results,
                               8 * static_cast<std::int64_t>(net.graph.results.size())};
  net.graph.results.push_back(id);
}

// Adds the layer "loss", whose type in the list of layers is its operator.
ValueId add_loss(Net& net, const NetInput& input, std::string_view where) {
  const Settings settings = resolve(input.loss.settings, input.loss_settings, where);
  try {
    const ValueId loss =
        net.layer("loss", input.loss.name, [&] { return input.loss.add(net, settings); });
    net.layers.back().type = net.graph.nodes.back().op->name;
    return loss;
  } catch (const Error& error) {
    throw Error("{}: {}", where, error.what());
  }
}

Net finish_net(Net net, ValueId output, const NetInput& input, std::string_view where) {
  const Field::Unit unit = answers_in(input.fields).unit;
  if (unit == Field::token && net.graph.shape(output).size() == net.output_shape.size() + 2)
    output = in_rows(net, output, unit);
  const Shape expected = with_batch(net.graph.shape(net.labels)[0], net.output_shape);
  if (net.graph.shape(output) != expected)
    throw Error("{}: the output is {}, expected {} ({} × {}): change the last layers", where,
                to_string(net.graph.shape(output)), to_string(expected),
                unit == Field::token ? "tokens of the batch" : "batch",
                net.classes > 0 ? "classes" : "targets");
  net.output = output;
  net.graph.value(output).name = "output";
  net.graph.outputs.push_back(output);
  net.loss = add_loss(net, input, where);
  add_result(net, net.loss, "loss");
  const Op& metric = net.classes > 0 ? ops::accuracy : ops::absolute_error;
  net.graph.scope = metric.name;
  Settings settings;
  if (net.classes == 0) settings.set("scale", input.target_scale);
  net.metric = net.graph.add1(metric, {output, net.labels, net.weights}, settings);
  net.graph.scope.clear();
  add_result(net, net.metric, metric.name);
  return net;
}

// The layer that a table asks for; `where` names the table.
Layer layer_of(const List<Layer>& layers, const Settings& table, const std::string& where) {
  const auto type = table.values().find("type");
  if (type == table.values().end() || !std::holds_alternative<std::string>(type->second))
    throw Error("{}: 'type' is missing or not a string, expected one of: {}", where,
                fmt::join(layers.names(), ", "));
  try {
    return layers.find(std::get<std::string>(type->second));
  } catch (const Error& error) {
    throw Error("{}: {}", where, error.what());
  }
}

}  // namespace

Net build_net(const Model& model, const Settings& settings, const NetInput& input,
              std::string_view where) {
  const std::string begin = fmt::format("{} {}", where, model.name);
  const Settings resolved = resolve(model.settings, settings, begin);
  require_sizes(resolved, begin);
  Net net = begin_net(input);
  ValueId output = no_value;
  try {
    output = model.build(net, net.input, resolved);
  } catch (const Error& error) {
    throw Error("{}: {}", begin, error.what());
  }
  return finish_net(std::move(net), output, input, begin);
}

Net build_net(const List<Layer>& layers, const std::vector<Settings>& tables, const NetInput& input,
              std::string_view where) {
  if (tables.empty()) throw Error("{}: there are no layers, expected at least one table", where);
  Net net = begin_net(input);
  ValueId x = net.input;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string number = fmt::format("{} layer {}", where, i + 1);
    const Layer layer = layer_of(layers, tables[i], number);
    x = net.apply(layer, x, tables[i], fmt::format("{} ({})", number, layer.name));
  }
  return finish_net(std::move(net), x, input, where);
}

}  // namespace tutti
