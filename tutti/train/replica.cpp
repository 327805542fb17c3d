// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/replica.h"

#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/shared_memory.h"
#include "tutti/core/memory.h"
#include "tutti/cost/predict.h"
#include "tutti/exchange/gather_weights.h"
#include "tutti/kernels/backends.h"
#include "tutti/parallel/partition.h"
#include "tutti/passes/accumulate.h"
#include "tutti/passes/autodiff.h"
#include "tutti/passes/dead_code.h"
#include "tutti/passes/quantise.h"
#include "tutti/passes/recompute_choices.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace tutti {
namespace {

constexpr std::int64_t loss_offset = 0, metric_offset = 8, square_sum_offset = 16;

int state_tag(Communicator& communicator) {
  return communicator.tags().of({.what = "optimizer state"});
}
int layer_state_tag(Communicator& communicator) {
  return communicator.tags().of({.what = "layer state"});
}

// Copies the elements that `layout` names between a state vector and a whole one.
template <class Copy>
void copy_parts(const StateLayout& layout, std::int64_t element_bytes, const Copy& copy) {
  for (const StatePart& part : layout.parts)
    copy(part.offset * element_bytes, part.state_offset * element_bytes,
         part.count * element_bytes);
}

// The plans to try, least time first.
std::vector<RecomputePlan> plans_for(const MemoryOptions& options, const std::vector<Cell>& cells) {
  if (options.recompute == "every") return {recompute_every(cells, options.every)};
  if (options.recompute == "root") return {recompute_root(cells)};
  if (options.recompute == "slots") return {recompute_slots(cells, options.slots)};
  if (options.recompute == "none" || options.limit_bytes == 0) return {{}};
  return recompute_choices(cells);
}

MemoryReport report_of(const Graph& graph, const std::vector<Cell>& cells,
                       const RecomputePlan& plan, const NodeSeconds& seconds, std::int64_t bytes) {
  MemoryReport report{.cells = static_cast<int>(cells.size()), .bytes = bytes};
  for (const Recomputed& run : plan.runs) report.recomputed += run.last - run.first;
  double all = 0;
  for (const Node& node : graph.nodes) all += seconds(graph, node);
  report.extra_work = all > 0 ? plan.seconds / all : 0;
  return report;
}

// Ranks of one process of which each updates its own part of the weights, when all have used them.
bool can_have_weights_in_common(const ReplicaOptions& options) {
  Communicator* communicator = options.messages.communicator;
  const StepClosing& closing = options.closing;
  const std::string& allgather = options.messages.allgather;
  return communicator != nullptr && communicator->shared() != nullptr && closing.sharded() &&
         !closing.shards_weights() && !options.messages.across_steps.value_or(false) &&
         (allgather == "auto" || allgather == "direct");
}

}  // namespace

Replica::Replica(ReplicaOptions options)
    : options_(std::move(options)), kernels_(kernels_named(options_.backend)) {
  StepClosing& closing = options_.closing;
  if (const Communicator* communicator = options_.messages.communicator; communicator != nullptr)
    closing.rank = communicator->rank(), closing.ranks = communicator->size();
  if (kernels_.prepare != nullptr) kernels_.prepare(options_.threads, closing.rank, closing.ranks);
  // Ranks must agree on what is computed again, whatever was measured where.
  const MemoryOptions& memory = options_.memory;
  if (closing.ranks == 1 && (memory.limit_bytes > 0 || memory.recompute != "none"))
    machine_ = known_machine();
  NetInput smallest = options_.input;
  smallest.batch = 1;
  const Net net = options_.build(smallest);
  table_ = net.table;
  layer_state_table_ = net.state_table;
  state_per_rank_ = net.state_per_rank && closing.ranks > 1;
  if (closing.ranks > 1) {
    const Messages& messages = options_.messages;
    factors_.emplace(options_.factors, messages.fixed_order,
                     ExchangeTimes{.communicator = *messages.communicator,
                                   .allgather = messages.allgather,
                                   .reduce_scatter = messages.reduce_scatter,
                                   .allreduce = messages.allreduce,
                                   .sharded = closing.sharded()});
    factored_ = factors_->among(net.graph, table_, dtype(), closing, options_.batch);
  }
  for (const LinearRange& layer : factored_) closing.factored.push_back(layer.offset);
  weight_layout_ = weight_layout(table_, dtype(), closing);
  gradient_layout_ = gradient_layout(table_, dtype(), closing);
  const auto allocate = device().allocate;
  common_weights_ = can_have_weights_in_common(options_);
  if (common_weights_) options_.messages.allgather = "direct";  // which then copies nothing
  weights_ = common_weights_ ? options_.messages.communicator->shared()->common(
                                   closing.rank, [&] { return allocate(weight_bytes()); })
                             : allocate(weight_bytes());
  gradients_ = allocate(gradient_bytes());
  if (closing.keeps_rounded()) rounded_ = allocate(rounded_bytes());
  layer_state_ =
      allocate(std::max<std::int64_t>(layer_state_table_.count(), 1) * bytes_of(dtype()));
  results_ = allocate(square_sum_offset + 8 * square_sums_of(table_, dtype(), closing));
  layout_ = state_layout(table_, dtype(), closing);
  for (int k = 0; k < closing.rule->states + options_.extra_states; ++k)
    states_.push_back(allocate(layout_.count * bytes_of(dtype())));
}

void Replica::require_memory() const {
  Communicator* const communicator = options_.messages.communicator;
  const bool threads = communicator != nullptr && communicator->shared() != nullptr;
  const std::int64_t ranks_here = threads ? ranks() : 1;
  const std::int64_t once = common_weights_ ? weight_bytes() : 0;
  tutti::require_memory(ranks_here * (planned_bytes() - once) + once,
                        "weights, gradients, optimizer state and activations");
}

void Replica::initialise(std::uint64_t seed, const std::function<void(void*, void*)>& change) {
  require_memory();
  NetInput smallest = options_.input;
  smallest.batch = 1;
  const Net net = options_.build(smallest);
  const Buffer weights(table_.count() * bytes_of(dtype()));
  tutti::initialise(net, seed, weights.data());
  const Buffer state(layer_state_table_.count() * bytes_of(dtype()));
  initialise_state(net, state.data());
  if (change) change(weights.data(), state.data());
  set_weights(weights);
  device().copy_in(layer_state_.get(), state.data(), state.bytes());
}

MeanLayerState::MeanLayerState(Replica& replica) : replica_(replica) {
  if (!replica.state_per_rank_) return;
  Communicator& communicator = *replica.options_.messages.communicator;
  const Device& device = replica.device();
  const std::int64_t count = replica.layer_state_table_.count();
  const Buffer mean(count * bytes_of(replica.dtype()));
  own_ = Buffer(mean.bytes());
  device.copy_out(own_.data(), replica.layer_state_.get(), own_.bytes());
  std::memcpy(mean.data(), own_.data(), static_cast<std::size_t>(own_.bytes()));
  const CollectiveArgs args{.dtype = replica.dtype(),
                            .count = count,
                            .tag = layer_state_tag(communicator),
                            .fixed_order = replica.options_.messages.fixed_order};
  const auto sum = choose(allreduces(), "auto", communicator, args).make(communicator, args);
  sum->start(mean.data());
  wait(*sum, communicator);
  dispatch_float(replica.dtype(), [&](auto zero) {
    auto* values = reinterpret_cast<decltype(zero)*>(mean.data());
    for (std::int64_t i = 0; i < count; ++i)
      values[i] /= static_cast<decltype(zero)>(communicator.size());
  });
  device.copy_in(replica.layer_state_.get(), mean.data(), mean.bytes());
}

MeanLayerState::~MeanLayerState() {
  if (own_.bytes() > 0)
    replica_.device().copy_in(replica_.layer_state_.get(), own_.data(), own_.bytes());
}

std::vector<Buffer> Replica::gather_layer_states() const {
  if (!state_per_rank_) return {};
  Communicator& communicator = *options_.messages.communicator;
  std::vector<Buffer> states;
  for (int peer = 0; peer < (rank() == 0 ? ranks() : 1); ++peer) {
    Buffer& state = states.emplace_back(layer_state_table_.count() * bytes_of(dtype()));
    if (peer == 0) {
      device().copy_out(state.data(), layer_state_.get(), state.bytes());
    } else {
      Request received =
          communicator.receive(state.data(), state.bytes(), peer, layer_state_tag(communicator));
      wait(received, communicator);
    }
  }
  if (rank() == 0) return states;
  Request sent =
      communicator.send(states[0].data(), states[0].bytes(), 0, layer_state_tag(communicator));
  wait(sent, communicator);
  return {};
}

Buffer Replica::gather_weights() const {
  return gather(weights(), weight_layout, options_.closing.shards_weights());
}

Buffer Replica::gather_state(int k) const {
  return gather(state(k), state_layout, options_.closing.sharded());
}

Buffer Replica::gather(const void* vector, LayoutOf layout_of, bool in_parts) const {
  const StepClosing& closing = options_.closing;
  const std::int64_t element_bytes = bytes_of(dtype());
  const auto own_bytes = [&](const StateLayout& layout) { return layout.count * element_bytes; };
  const StateLayout here = layout_of(table_, dtype(), closing);
  Buffer own(own_bytes(here));
  device().copy_out(own.data(), vector, own.bytes());
  if (!in_parts) return closing.rank == 0 ? std::move(own) : Buffer();
  Communicator& communicator = *options_.messages.communicator;
  if (closing.rank > 0) {
    Request sent = communicator.send(own.data(), own.bytes(), 0, state_tag(communicator));
    wait(sent, communicator);
    return {};
  }
  Buffer whole(table_.count() * element_bytes);
  for (int rank = 0; rank < closing.ranks; ++rank) {
    StepClosing theirs = closing;
    theirs.rank = rank;
    const StateLayout layout = layout_of(table_, dtype(), theirs);
    if (rank > 0) {
      own = Buffer(own_bytes(layout));
      Request received =
          communicator.receive(own.data(), own.bytes(), rank, state_tag(communicator));
      wait(received, communicator);
    }
    copy_parts(layout, element_bytes, [&](std::int64_t to, std::int64_t from, std::int64_t bytes) {
      std::memcpy(whole.data() + to, own.data() + from, static_cast<std::size_t>(bytes));
    });
  }
  return whole;
}

void Replica::set_weights(const Buffer& whole) {
  release_weights();
  if (!common_weights_ || rank() == 0) set(weights(), weight_layout_, whole);
  release_weights();
  constants_.clear();
}

void Replica::release_weights() const {
  if (common_weights_) options_.messages.communicator->barrier();
}

void Replica::set_state(int k, const Buffer& whole) { set(state(k), layout_, whole); }

void Replica::set(void* vector, const StateLayout& layout, const Buffer& whole) {
  auto* own = static_cast<std::byte*>(vector);
  copy_parts(layout, bytes_of(dtype()),
             [&](std::int64_t from, std::int64_t to, std::int64_t bytes) {
               device().copy_in(own + to, whole.data() + from, bytes);
             });
}

NodeSeconds Replica::times() const {
  const Calibration* calibration = machine_ ? machine_->with_threads(options_.threads) : nullptr;
  if (calibration == nullptr) return usual_seconds;
  return node_seconds(kernels_, *calibration);
}

void Replica::finish(PassRunner& runner, Graph& graph, PassContext& context,
                     const Purpose& purpose) {
  if (options_.messages.communicator != nullptr && options_.messages.communicator->size() > 1)
    runner.run("partition", graph,
               [&] { partition_samples(graph, purpose.samples, purpose.local); });
  if (options_.closing.shards_weights())
    runner.run("gather", graph, [&] {
      remove_dead_code(graph);  // for which nothing must be gathered
      tutti::gather_weights(graph, table_, dtype(), options_.closing, data_axis);
    });
  if (purpose.training && purpose.accumulation.adds)
    runner.run("accumulate", graph, [&] { accumulate_gradients(graph); });
  if (purpose.training && !options_.closing.factored.empty() &&
      purpose.local * ranks() == purpose.samples)
    runner.run("factors", graph, [&] {
      exchange_factors(graph, dtype(), options_.closing, data_axis,
                       [&](const LinearRange& layer) { return factors_->pays(layer, dtype()); });
    });
  if (purpose.training && purpose.accumulation.closes)
    runner.run("exchange", graph,
               [&] { close_step(graph, table_, dtype(), options_.closing, square_sum_offset); });
  runner.run_all(graph, context);
}

Program Replica::compile(const Purpose& purpose) {
  const bool training = purpose.training;
  if (training && options_.selection.precision == "int8")
    throw Error(
        "kernels.precision = \"int8\" is for tutti eval and tutti predict; train with f32, bf16 or "
        "fp16");
  NetInput input = options_.input;
  input.batch = purpose.samples;
  input.training = training;
  Net net = options_.build(input);
  const int forward_nodes = static_cast<int>(net.graph.nodes.size());
  PassRunner differentiated(options_.without);
  std::vector<Cell> cells;
  std::vector<RecomputePlan> plans(1);
  const NodeSeconds seconds = times();
  if (training) {
    differentiated.run("autodiff", net.graph,
                       [&] { differentiate(net.graph, net.loss, net.table, net.parameters); });
    cells = cells_of(net.graph, forward_nodes, seconds);
    plans = plans_for(options_.memory, cells);
  }
  const Backend backend = backend_of(kernels_, options_.selection);
  struct Attempt {
    std::size_t plan;
    Graph graph;
    MemoryPlan memory;
    std::vector<PassReport> reports;
    std::int64_t bytes;
  };
  const std::int64_t limit = training && options_.memory.limit_bytes > 0
                                 ? options_.memory.limit_bytes
                                 : std::numeric_limits<std::int64_t>::max();
  std::optional<Attempt> fitting;
  std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
  cheapest_that_fits(cells, plans, limit, [&](std::size_t k) {
    PassRunner runner = differentiated;
    Graph graph = net.graph;
    PassContext context{.backend = backend};
    if (!plans[k].runs.empty())
      runner.run("recompute", graph, [&] { recompute(graph, cells, plans[k]); });
    finish(runner, graph, context, purpose);
    const std::int64_t bytes = vector_bytes() + context.memory.arena_bytes;
    least_bytes = std::min(least_bytes, bytes);
    if (bytes <= limit)
      fitting = {k, std::move(graph), std::move(context.memory), runner.reports(), bytes};
    return bytes;
  });
  if (!fitting)
    throw Error(
        "a step needs {:.1f} MB when as much as possible is computed again, but memory.limit "
        "allows {:.1f} MB; reduce train.batch, or use more ranks",
        static_cast<double>(least_bytes) * 1e-6, static_cast<double>(limit) * 1e-6);
  reports_ = fitting->reports;
  if (training)
    memory_report_ = report_of(net.graph, cells, plans[fitting->plan], seconds, fitting->bytes);
  return {std::move(fitting->graph),
          std::move(fitting->memory),
          kernels_,
          {.threads = options_.threads, .rules = &options_.rules},
          options_.messages};
}

std::int64_t Replica::rounded_bytes() const {
  return options_.closing.keeps_rounded() ? gradient_layout_.count * bytes_of(DType::bf16) : 0;
}

std::int64_t Replica::vector_bytes() const {
  return weight_bytes() + gradient_bytes() + rounded_bytes() +
         (layer_state_table_.count() + states() * layout_.count) * bytes_of(dtype());
}

Program& Replica::program(const Purpose& purpose) {
  const auto found = programs_.find(purpose);
  if (found == programs_.end() || &found->second != left_) finish_update();
  if (found != programs_.end()) return found->second;
  Program& made = programs_.emplace(purpose, compile(purpose)).first->second;
  if (options_.seconds) made.set_seconds(options_.seconds(made));
  if (made.memory().arena_bytes > arena_bytes_) {
    arena_bytes_ = made.memory().arena_bytes;
    arena_.reset();  // before the larger one is taken
  }
  return made;
}

Program& Replica::training_program(std::int64_t samples, std::int64_t local,
                                   const Accumulation& accumulation) {
  return program({true, samples, local, accumulation});
}

Bases Replica::bases_for(const Program&, const BatchPointers& batch) {
  const auto input = [](const void* pointer) {
    return static_cast<std::byte*>(const_cast<void*>(pointer));
  };
  if (!arena_) {
    require_memory();
    arena_ = device().allocate(arena_bytes_);
  }
  Bases bases;
  bases[Base::arena] = arena_.get();
  bases[Base::weights] = weights_.get();
  bases[Base::gradients] = gradients_.get();
  bases[Base::rounded] = rounded_.get();
  bases[Base::layer_state] = layer_state_.get();
  bases[Base::results] = results_.get();
  for (int k = 0; k < states(); ++k)
    bases[Base::optimizer + k] = states_[static_cast<std::size_t>(k)].get();
  bases[Base::inputs] = input(batch.x);
  bases[Base::inputs + 1] = input(batch.labels);
  bases[Base::inputs + 2] = input(batch.weights);
  return bases;
}

double Replica::read_result(std::int64_t offset, DType type) const {
  device().synchronize();
  return dispatch_float(type, [&](auto host) {
    device().copy_out(&host, results_.get() + offset, sizeof host);
    return static_cast<double>(host);
  });
}

StepResult Replica::read_results(const Program& program, double loss_scale) const {
  StepResult result{.loss = read_result(loss_offset, dtype()),
                    .metric = read_result(metric_offset, dtype())};
  double squares = 0;
  for (ValueId id : program.graph().results) {
    const std::int64_t offset = program.graph().value(id).place.offset_bytes;
    if (offset >= square_sum_offset) squares += read_result(offset, DType::f64);
  }
  result.gradient_norm = std::sqrt(squares) / loss_scale;
  return result;
}

void Replica::finish_update() const {
  if (left_ != nullptr) left_->finish();
  left_ = nullptr;
}

StepResult Replica::step(const BatchPointers& batch, const StepState& state, Profile* profile,
                         bool may_leave) {
  Program& train = program(training_of(batch));
  const Bases bases = bases_for(train, batch);
  train.run(bases, state, 0, train.update_from(), profile);
  left_ = nullptr;
  // Other results may still be under way between ranks.
  train.finish(train.graph().results[0]);
  StepResult result{.loss = read_result(loss_offset, dtype())};
  const bool finite = std::isfinite(result.loss);
  const bool leaves =
      finite && may_leave && batch.accumulation == Accumulation{} && train.leave_update(state);
  if (leaves) left_ = &train;
  if (train.update_from() < train.first_update())
    train.run(bases, state, train.update_from(), train.first_update(), profile);
  if (!finite) diagnose(train, bases, batch, state, result);
  if (leaves) {
    for (const ValueId id : train.graph().results)
      if (train.graph().value(id).place.offset_bytes < square_sum_offset) train.finish(id);
    return {.loss = result.loss, .metric = read_result(metric_offset, dtype()), .complete = false};
  }
  if (batch.accumulation.closes) {
    release_weights();
    train.run(bases, state, train.first_update(), train.size(), profile);
  }
  result = read_results(train, state.loss_scale);
  if (!std::isfinite(result.gradient_norm)) {
    if (!options_.closing.guarded) diagnose(train, bases, batch, state, result);
    result.skipped = true;
  }
  if (batch.accumulation.adds) result.loss += so_far_.loss, result.metric += so_far_.metric;
  return so_far_ = result;
}

void Replica::explain(const BatchPointers& batch, const StepState& state,
                      const StepResult& result) {
  Program& train = program(training_of(batch));
  diagnose(train, bases_for(train, batch), batch, state, result);
}

StepResult Replica::gradient(const BatchPointers& batch, const StepState& state, void* weights,
                             void* gradients, void* layer_state) {
  finish_update();
  Program& train = program(training_of(batch));
  Bases bases = bases_for(train, batch);
  bases[Base::weights] = static_cast<std::byte*>(weights);
  bases[Base::gradients] = static_cast<std::byte*>(gradients);
  bases[Base::layer_state] = static_cast<std::byte*>(layer_state);
  train.run(bases, state, 0, train.first_update());
  train.finish();
  const StepResult result{.loss = read_result(loss_offset, dtype())};
  if (!std::isfinite(result.loss)) diagnose(train, bases, batch, state, result);
  return result;
}

StepResult Replica::update(const BatchPointers& batch, const StepState& state) {
  finish_update();
  Program& train = program(training_of(batch));
  const Bases bases = bases_for(train, batch);
  release_weights();
  train.run(bases, state, train.first_update(), train.size());
  const StepResult result = read_results(train, state.loss_scale);
  if (!std::isfinite(result.gradient_norm)) diagnose(train, bases, batch, state, result);
  return result;
}

StepResult Replica::evaluate(const BatchPointers& batch) {
  const Purpose purpose{false, batch.samples, batch.local};
  Program& forward = program(purpose);
  Bases bases = bases_for(forward, batch);
  const int prepared = constant_nodes(forward.graph());
  const bool made = constants_.count(purpose) > 0;
  if (prepared > 0 && !made)
    constants_[purpose] = device().allocate(constant_bytes(forward.graph()));
  if (prepared > 0) bases[Base::constants] = constants_.at(purpose).get();
  forward.run(bases, {}, made ? prepared : 0, forward.size());
  return read_results(forward);
}

StepResult Replica::predict(const BatchPointers& batch, void* outputs) {
  const StepResult result = evaluate(batch);
  const Program& forward = program({false, batch.samples, batch.local});
  const Value& output = forward.graph().value(forward.graph().outputs.at(0));
  device().copy_out(outputs, arena_.get() + output.place.offset_bytes, output.bytes());
  return result;
}

void Replica::diagnose(Program& train, const Bases& bases, const BatchPointers& batch,
                       const StepState& state, const StepResult& result) {
  const std::string what = std::isfinite(result.loss) ? "the gradient is not finite"
                                                      : fmt::format("the loss is {}", result.loss);
  const auto fail = [&](const std::string& culprit) {
    throw Error(
        "step {}: {}; the first value that is not finite is {}. Lower optimizer.rate, set "
        "optimizer.clip_norm, or look at the data",
        state.step, what, culprit);
  };
  const Device& device = this->device();
  const Value& x = train.graph().value(train.graph().batch[0]);
  if (!device.all_finite(batch.x, x.type.dtype, elements(x.type.shape))) fail("in the input batch");
  for (const Range& range : table_.ranges)
    for (const StatePart& part : weight_layout_.parts) {
      const std::int64_t first = std::max(range.offset, part.offset);
      const std::int64_t count = std::min(range.end(), part.offset + part.count) - first;
      const std::int64_t place = part.state_offset + first - part.offset;
      if (count > 0 &&
          !device.all_finite(weights_.get() + place * bytes_of(dtype()), dtype(), count))
        fail(fmt::format("in the parameter '{}'", range.name));
    }
  // What was gathered into the arena must be gathered again, by all. Whoever finds the value first
  // ends the others' waiting.
  const bool all_ranks = options_.closing.shards_weights() || !factored_.empty();
  const std::string step = train.first_not_finite(bases, state, 0, train.first_update(), all_ranks);
  if (!step.empty()) fail(fmt::format("the result of {}", step));
  // The value came from another rank, which is about to say so.
  if (options_.messages.communicator != nullptr) options_.messages.communicator->barrier();
  fail("not reproducible on this rank");
  std::abort();
}

}  // namespace tutti
