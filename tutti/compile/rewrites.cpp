// SPDX-License-Identifier: Apache-2.0
#include "tutti/compile/rewrites.h"

#include "tutti/exchange/close_step.h"
#include "tutti/exchange/guard.h"
#include "tutti/exchange/merges/scale_share.h"
#include "tutti/exchange/stop_word.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/accumulate.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/carry_state.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/sample_rows.h"

namespace tutti {
namespace {

bool trains(const CompileContext& context) { return context.purpose.training; }
bool closes(const CompileContext& context) {
  return trains(context) && context.purpose.accumulation.closes;
}
bool has_peers(const CompileContext& context) { return context.closing.ranks > 1; }

// The names of all axes of the mesh, as the setting `axes` of operators lists them.
std::string axes_of(const Mesh& mesh) {
  std::string axes;
  for (const MeshAxis& axis : mesh.axes()) axes += (axes.empty() ? "" : " ") + axis.name;
  return axes;
}

const Rewrite autodiff{.name = "autodiff",
                       .doc = "adds the backward pass",
                       .wanted = trains,
                       .run = [](Graph& graph, const CompileContext& context) {
                         differentiate(graph, context.net.loss, context.net.table,
                                       context.net.parameters);
                       }};

const Rewrite recomputing{
    .name = "recompute",
    .doc = "computes activations again where memory is short (memory.recompute)",
    .wanted = [](const CompileContext& context) { return !context.plan.runs.empty(); },
    .run = [](Graph& graph,
              const CompileContext& context) { recompute(graph, context.cells, context.plan); },
    .may_be_left_out = true};

double share_factor(const CompileContext& context) {
  return context.closing.scheme.merge.factor(context.purpose.local, context.purpose.samples);
}

const Rewrite merge{
    .name = "merge",
    .doc = "multiplies what a rank has of loss and gradient by its weight (exchange.merge)",
    .wanted =
        [](const CompileContext& context) {
          return trains(context) && has_peers(context) && share_factor(context) != 1;
        },
    .run =
        [](Graph& graph, const CompileContext& context) {
          if (answers_in(context.net.fields).unit == Field::token)
            throw Error(
                "exchange.merge = \"{}\" weighs ranks by their samples, but answers are per token, "
                "of which samples have different numbers: expected \"sum\"",
                context.closing.scheme.merge.name);
          scale_share(graph, share_factor(context));
        }};

const Rewrite sample_rows{
    .name = "sample_rows",
    .doc = "tells random operators where in the batch an element lies",
    .wanted = trains,
    .run = [](Graph& graph, const CompileContext&) { count_sample_rows(graph); }};

const Rewrite partition{
    .name = "partition",
    .doc = "cuts the batch over ranks and marks partial sums",
    .wanted =
        [](const CompileContext& context) {
          return has_peers(context) && (context.closing.meets() || !trains(context));
        },
    .run =
        [](Graph& graph, const CompileContext& context) {
          partition_samples(graph, context.purpose.samples, context.purpose.local);
        }};

// Sample i of every batch belongs to stream i, so all batches must have equally many samples.
void require_streams(const CompileContext& context) {
  const Net& planned = context.vectors.net;
  const std::int64_t streams = planned.graph.shape(planned.input)[0];
  if (context.closing.update.local.name == "svrg")
    throw Error("state can't be carried with svrg, which runs every batch twice");
  if (context.purpose.samples != streams)
    throw Error(
        "state is carried for {} streams, one for each sample of a batch, but this batch has {}; "
        "set train.last_batch = \"drop\" and leave train.batch and train.accumulate as they are",
        streams, context.purpose.samples);
}

const Rewrite carry{
    .name = "carry",
    .doc = "leaves what streams carry to the next step",
    .wanted = [](const CompileContext& context) { return !context.net.graph.carried.empty(); },
    .run =
        [](Graph& graph, const CompileContext& context) {
          require_streams(context);
          carry_state(graph);
        }};

const Rewrite gather{
    .name = "gather",
    .doc = "gathers weights of which ranks keep parts, before they are read",
    .wanted =
        [](const CompileContext& context) {
          return has_peers(context) && context.closing.scheme.store.fetch != nullptr;
        },
    .run =
        [](Graph& graph, const CompileContext& context) {
          remove_dead_code(graph);  // dead nodes need no weights
          context.closing.scheme.store.fetch(graph, context.vectors.table(),
                                             context.spec.input.dtype, context.closing, data_axis);
        }};

const Rewrite accumulate{
    .name = "accumulate",
    .doc = "adds gradients to those of earlier micro-batches",
    .wanted =
        [](const CompileContext& context) {
          return trains(context) && context.purpose.accumulation.adds;
        },
    .run = [](Graph& graph, const CompileContext&) { accumulate_gradients(graph); }};

// Factors are gathered in equal parts, so all ranks must have equally many samples.
const Rewrite factors{.name = "factors",
                      .doc = "lets gradients of linear layers travel as factors (exchange.payload)",
                      .wanted =
                          [](const CompileContext& context) {
                            const Purpose& purpose = context.purpose;
                            return trains(context) && !context.closing.factored.empty() &&
                                   purpose.local * context.closing.ranks == purpose.samples;
                          },
                      .run =
                          [](Graph& graph, const CompileContext& context) {
                            const DType dtype = context.spec.input.dtype;
                            exchange_factors(graph, context.vectors.table(), dtype, context.closing,
                                             data_axis, [&](const LinearRange& layer) {
                                               return context.vectors.factors->pays(layer, dtype);
                                             });
                          },
                      .may_be_left_out = true};

const Rewrite guard{
    .name = "guard",
    .doc = "keeps updates from a step whose loss is not finite, and from all after",
    .wanted = trains,
    .run = [](Graph& graph, const CompileContext&) { add_guard(graph, bad_step_offset); }};

const Rewrite exchange{.name = "exchange",
                       .doc = "sums gradients over ranks and updates the weights",
                       .wanted = closes,
                       .run = [](Graph& graph, const CompileContext& context) {
                         close_step(graph, context.vectors.table(), context.spec.input.dtype,
                                    context.closing, square_sum_offset,
                                    static_cast<double>(context.purpose.local) /
                                        static_cast<double>(context.purpose.samples));
                       }};

const Rewrite stop_word{.name = "stop_word",
                        .doc = "lets the first rank tell all others whether the run ends",
                        .wanted =
                            [](const CompileContext& context) {
                              return has_peers(context) && closes(context) &&
                                     context.closing.meets();
                            },
                        .run =
                            [](Graph& graph, const CompileContext& context) {
                              add_stop_word(graph, axes_of(context.spec.mesh), stop_word_offset);
                            }};

}  // namespace

List<Rewrite> rewrites() {
  return {"pass",
          {autodiff, recomputing, merge, sample_rows, partition, carry, gather, accumulate, factors,
           guard, exchange, stop_word}};
}

List<Pass> all_passes() {
  List<Pass> all{"pass", {}};
  for (const Rewrite& rewrite : rewrites()) all.add({.name = rewrite.name, .doc = rewrite.doc});
  for (const Pass& pass : passes()) all.add(pass);
  return all;
}

void require_may_be_left_out(const std::set<std::string>& without) {
  const List<Pass> known = all_passes();
  const List<Rewrite> all = rewrites();
  for (const std::string& name : without) {
    known.find(name);
    for (const Rewrite& rewrite : all)
      if (rewrite.name == name && !rewrite.may_be_left_out)
        throw Error(
            "pass '{}' can't be left out: {}. Those that can: recompute, factors and the passes "
            "that fit a graph to the back end (tutti list passes)",
            name, rewrite.doc);
  }
}

}  // namespace tutti
