// SPDX-License-Identifier: Apache-2.0
// A network: the forward graph of one batch up to the loss, and the table of its parameters in the
// flat vector w. Layers add nodes and parameters to it; models are functions that apply layers.
#pragma once

#include "tutti/core/field.h"
#include "tutti/core/flat.h"
#include "tutti/core/list.h"
#include "tutti/core/settings.h"
#include "tutti/graph/graph.h"
#include "tutti/nn/loss.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct Layer;

// The first values of a parameter (A05). he, xavier: normal with variance 2/fan_in, 2/(fan_in +
// fan_out); uniform_fan_in: uniform in ±1/√fan_in.
struct Initialiser {
  enum Kind { zero, one, constant, he, xavier, uniform_fan_in, given };
  Kind kind = zero;
  std::int64_t fan_in = 1, fan_out = 1;
  double value = 0;                // value of all elements, for `constant`
  std::vector<float> values = {};  // values of the elements, for `given`
};

// How a parameter is updated; see Range.
struct ParameterAttributes {
  bool trainable = true;
  double weight_decay = 1;
  double rate = 1;
  bool row_sparse = false;
};

// A layer of a network and what it added.
struct LayerInfo {
  std::string name, type;
  ValueId output = no_value;
  int first_node = 0, last_node = 0;  // nodes [first_node, last_node)
  std::vector<int> ranges = {};       // indices of its parameters in the table
};

// The names that the layers of a network have.
struct LayerNames {
  std::set<std::string> taken = {};
  std::map<std::string, int> numbers = {};  // the last number in a name, by type of layer
};

struct Net {
  Graph graph;
  RangeTable table;
  std::vector<ValueId> parameters;        // the value of each range
  std::vector<Initialiser> initialisers;  // of each range
  RangeTable state_table;  // ranges of the layer state s, which is neither parameter nor gradient
  std::vector<Initialiser> state_initialisers;
  // Ranks have layer states of their own, which are averaged before use.
  bool state_per_rank = false;
  std::vector<LayerInfo> layers;
  LayerNames layer_names = {};
  DType dtype = DType::f32;
  bool training = true;
  Shape output_shape;        // shape of the answer for one sample: {classes} or the targets' shape
  std::int64_t classes = 0;  // 0: regression

  Fields fields;  // fields of the batch; the value of fields[i] is graph.batch[i]
  // The values that every network has; the first three are fields of the batch. Where there is an
  // answer for each token, labels, weights and output have a row for each token, which makes n·t
  // rows.
  ValueId input = no_value;    // [n, sample…]
  ValueId labels = no_value;   // i32 [n], or targets [n, …] for regression
  ValueId weights = no_value;  // [n]: the weight of each row in the loss
  ValueId output = no_value;   // logits or predictions
  ValueId loss = no_value;
  ValueId metric = no_value;  // weighted count of right answers, or mean absolute error

  // The value of a field of the batch, [n, …]. Throws Error when there is no such field.
  ValueId field(std::string_view name) const { return graph.batch[index_of(fields, name)]; }
  // The value of a field in the network's floating-point type: integers are converted.
  ValueId real_field(std::string_view name);
  // A parameter of the layer being built, called "layer.name" in the table.
  ValueId parameter(const std::string& name, Shape shape, Initialiser initialiser,
                    const ParameterAttributes& attributes = {});
  // A tensor of the layer state, held in the graph under another shape of as many elements.
  ValueId state(const std::string& name, Shape shape, Initialiser initialiser, Shape held_as);
  // A carried state [n, shape…]: what the step before has left for each stream (row i of every
  // batch is stream i). It is zero in the first step and, in networks that are not trained, in
  // every batch. No gradient flows to it.
  ValueId carried(const std::string& name, const Shape& shape);
  // Makes `next` the value that carried state `state` has in the next step.
  void carry_on(ValueId state, ValueId next);
  // Runs `build` as one layer: the nodes and parameters that it adds carry the layer's name and are
  // listed in `layers`.
  ValueId layer(const std::string& name, const std::string& type,
                const std::function<ValueId()>& build);
  // Applies a listed layer; without a setting 'name' the layer is called by its type and a number.
  // `where` begins messages.
  ValueId apply(const Layer& layer, ValueId x, const Settings& settings = {},
                std::string_view where = "");
};

// What a network is built for.
struct NetInput {
  Fields fields;             // fields of a sample, among them "input", and "labels" or "targets"
  std::int64_t classes = 0;  // labels are below this number; 0: regression, with targets
  std::vector<double> target_scale = {1};  // the unit of each target, for the metric
  std::int64_t batch = 1;
  DType dtype = DType::f32;
  bool training = true;
  Loss loss = losses().find("auto");
  Settings loss_settings = {};
};

// A model: build() adds its layers to the network and returns the output for x; `settings` are
// resolved. A new model is a file in models/ and a line in models/models.cpp.
struct Model {
  std::string name, doc;
  std::vector<Setting> settings = {};
  ValueId (*build)(Net& net, ValueId x, const Settings& settings) = nullptr;
  // The shape of the samples that the model was made for, on which `tutti show` shows it; empty:
  // any.
  Shape sample_shape = {};
  std::int64_t classes = 0;
};

List<Model> models();

// Builds a network of inputs, model, loss and metric (accuracy, or mean absolute error).
// Loss and metric are results at offsets 0 and 8. `where` begins messages, e.g. "recipe.toml:
// [model]".
Net build_net(const Model& model, const Settings& settings, const NetInput& input,
              std::string_view where = "[model]");

// Builds a network of a chain of layers, each given by a table with 'type', an optional 'name' and
// its settings.
Net build_net(const List<Layer>& layers, const std::vector<Settings>& tables, const NetInput& input,
              std::string_view where = "[[model.layers]]");

// Fills w (net.table.count() elements of net.dtype) with first values, gaps with zeros. A random
// value depends only on the seed, the number of the range and the element.
void initialise(const Net& net, std::uint64_t seed, void* w);
// Fills the layer state s (net.state_table.count() elements), in which nothing is random.
void initialise_state(const Net& net, void* s);

}  // namespace tutti
