// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/replica.h"

#include "tutti/comm/shared_memory.h"
#include "tutti/core/memory.h"
#include "tutti/exchange/close_step.h"
#include "tutti/kernels/backends.h"
#include "tutti/passes/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

namespace tutti {
namespace {

StepSpec with_facts(StepSpec spec, const Communicator* communicator) {
  if (communicator != nullptr) spec.facts = communicator->facts();
  return spec;
}

double number_at(const std::byte* results, std::int64_t offset_bytes, DType type) {
  return dispatch_float(type, [&](auto number) {
    std::memcpy(&number, results + offset_bytes, sizeof number);
    return static_cast<double>(number);
  });
}

// Reads the results of a step from a copy in host memory.
StepResult result_in(const std::byte* results, const Graph& graph, DType dtype, double loss_scale) {
  StepResult result{.loss = number_at(results, loss_offset, dtype),
                    .metric = number_at(results, metric_offset, dtype)};
  std::int64_t bad_step = 0;
  std::memcpy(&bad_step, results + bad_step_offset, sizeof bad_step);
  result.bad_step = bad_step - 1;
  std::memcpy(result.word.data(), results + stop_word_offset, sizeof result.word);
  double squares = 0;
  for (const ValueId id : graph.results) {
    const std::int64_t offset = graph.value(id).place.offset_bytes;
    if (offset >= square_sum_offset) squares += number_at(results, offset, DType::f64);
  }
  result.gradient_norm = std::sqrt(squares) / loss_scale;
  return result;
}

}  // namespace

Replica::Replica(const ReplicaOptions& options)
    : compiler_(with_facts(options, options.communicator)),
      communicator_(options.communicator),
      seconds_(options.seconds),
      streams_(make_streams(device())),
      batch_(device(), streams_),
      vectors_(plan().list, device(), communicator_),
      results_bytes_(square_sum_offset + 8 * square_sums_of(table(), dtype(), closing())),
      results_(device().allocate(results_bytes_)),
      told_(device(), streams_.compute, sizeof(StopWord)),
      read_(device(), streams_.compute, results_bytes_) {
  posted_.reserve(staging_slots);
}

void Replica::require_memory() const {
  const bool threads = communicator_ != nullptr && communicator_->shared() != nullptr;
  const std::int64_t ranks_here = threads ? ranks() : 1;
  const VectorBytes bytes = bytes_of(plan().list);
  tutti::require_memory(ranks_here * (bytes.own + arena_bytes_) + bytes.common,
                        "weights, gradients, optimizer state and activations");
}

void Replica::initialise(std::uint64_t seed, const std::function<void(void*, void*)>& change) {
  require_memory();
  const Net& net = plan().net;
  const Buffer weights(table().count() * bytes_of(dtype()));
  tutti::initialise(net, seed, weights.data());
  const Buffer state(layer_state_table().count() * bytes_of(dtype()));
  initialise_state(net, state.data());
  if (change) change(weights.data(), state.data());
  set_weights(weights);
  device().copy_in(layer_state(), state.data(), state.bytes());
  set_carried(Buffer(carried_table().count() * bytes_of(dtype())));  // all zeros
}

std::vector<Buffer> Replica::gather_layer_states() const {
  return plan().state_per_rank ? vectors().gather_each(Base::layer_state) : std::vector<Buffer>();
}

Buffer Replica::gather_carried() const {
  return plan().net.graph.carried.empty() ? Buffer() : vectors().gather(Base::carried);
}

void Replica::set_carried(const Buffer& whole) {
  if (!plan().net.graph.carried.empty()) vectors_.set(Base::carried, whole);
}

void Replica::set_weights(const Buffer& whole) {
  finish_update();
  vectors_.set(Base::weights, whole);
  if (!closing().meets()) vectors_.set(plan().store_base(), whole);
  constants_.clear();
}

void Replica::set_state(int k, const Buffer& whole) {
  finish_update();
  vectors_.set(Base::optimizer + k, whole);
}

Vectors& Replica::change_vectors() {
  finish_update();
  constants_.clear();
  return vectors_;
}

CompiledStep Replica::compile(const Purpose& purpose) {
  Compiled made = compiler_.compile(purpose);
  reports_ = std::move(made.passes);
  if (purpose.training) memory_report_ = made.memory;
  return compiler_.bound(std::move(made.step));
}

Program& Replica::program(const Purpose& purpose) {
  const auto found = programs_.find(purpose);
  if (found == programs_.end() || &found->second != postponed_) finish_update();
  if (found != programs_.end()) return found->second;
  Program& made = programs_
                      .try_emplace(purpose, compile(purpose), kernels(),
                                   KernelContext{.threads = compiler_.spec().threads,
                                                 .rules = &compiler_.spec().rules,
                                                 .streams = streams_},
                                   communicator_)
                      .first->second;
  if (seconds_) made.set_seconds(seconds_(made.compiled()));
  if (made.memory().arena_bytes > arena_bytes_) {
    arena_bytes_ = made.memory().arena_bytes;
    arena_.reset();  // is freed before bases_for() allocates the larger one
  }
  return made;
}

Program& Replica::training_program(std::int64_t samples, std::int64_t local,
                                   const Accumulation& accumulation) {
  return program({true, samples, local, accumulation});
}

Bases Replica::bases_for(const Program& program, const BatchPointers& batch) {
  if (!arena_) {
    require_memory();
    arena_ = device().allocate(arena_bytes_);
  }
  Bases bases = vectors_.bases();
  bases[Base::arena] = arena_.get();
  bases[Base::results] = results_.get();
  batch_.put(program.graph(), batch.fields, bases);
  return bases;
}

StepResult Replica::read_results(const Program& program) const {
  check(posted_.empty(), "results are taken in their order");
  read_.post(results_.get());
  return result_in(read_.take(), program.graph(), dtype(), 1);
}

void Replica::finish_update() const {
  if (postponed_ != nullptr) postponed_->finish();
  postponed_ = nullptr;
}

void Replica::run_step(const BatchPointers& batch, const StepState& state, Profile* profile,
                       bool may_postpone) {
  Program& train = program(training_of(batch));
  const Bases bases = bases_for(train, batch);
  postponed_ = nullptr;
  if (train.step(bases, state, may_postpone && batch.accumulation == Accumulation{}, profile))
    postponed_ = &train;
  last_ = {&train, state.loss_scale, batch.accumulation.adds, postponed_ == nullptr};
}

void Replica::post_result() {
  posted_.push_back(last_);
  read_.post(results_.get());
}

StepResult Replica::take_result() {
  const PendingResult own = posted_.front();
  posted_.erase(posted_.begin());
  StepResult result = result_in(read_.take(), own.program->graph(), dtype(), own.loss_scale);
  result.complete = own.complete;
  if (!own.complete) result.gradient_norm = 0;
  result.skipped = own.complete && closing().update.guarded && !std::isfinite(result.gradient_norm);
  if (own.adds) result.loss += so_far_.loss, result.metric += so_far_.metric;
  return so_far_ = result;
}

StepResult Replica::result() {
  check(posted_.empty(), "results are taken in their order");
  post_result();
  const StepResult result = take_result();
  if (postponed_ == nullptr || std::isfinite(result.loss)) return result;
  finish_update();  // the postponed guard says that the step was bad
  last_.complete = true;
  post_result();
  return take_result();
}

StepResult Replica::step(const BatchPointers& batch, const StepState& state, Profile* profile,
                         bool may_postpone) {
  run_step(batch, state, profile, may_postpone);
  const StepResult result = this->result();
  if (result.bad_step >= 0) explain(batch, state, result);
  return result;
}

void Replica::tell(const StopWord& word) {
  told_.put(results_.get() + stop_word_offset, word.data());
}

void Replica::gradient(BatchPointers batch, const StepState& state, const OtherVectors& at) {
  finish_update();
  batch.accumulation.closes = false;
  Program& train = program(training_of(batch));
  Bases bases = bases_for(train, batch);
  bases[Base::weights] = static_cast<std::byte*>(at.weights);
  bases[Base::gradients] = static_cast<std::byte*>(at.gradients);
  bases[Base::layer_state] = static_cast<std::byte*>(at.layer_state);
  train.run(bases, state);
  train.finish();
  const StepResult result = read_results(train);
  if (!std::isfinite(result.loss)) explain(batch, state, result);
}

StepResult Replica::evaluate(const BatchPointers& batch) {
  const Purpose purpose = forward_of(batch);
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
  const Program& forward = program(forward_of(batch));
  const Value& output = forward.graph().value(forward.graph().outputs.at(0));
  device().copy_out(outputs, arena_.get() + output.place.offset_bytes, output.bytes());
  return result;
}

std::string Replica::not_finite_before_step(const Graph& graph, const Bases& bases) const {
  const Device& device = this->device();
  for (std::size_t k = 0; k < graph.batch.size(); ++k) {
    const Value& field = graph.value(graph.batch[k]);
    if (is_float(field.type.dtype) &&
        !device.all_finite(bases[Base::inputs + static_cast<int>(k)], field.type.dtype,
                           elements(field.type.shape)))
      return fmt::format("in the {} batch", field.name);
  }
  for (const Range& range : table().ranges)
    for (const VectorPart& part : vectors_.vector(Base::weights).layout.parts) {
      const std::int64_t first = std::max(range.offset, part.offset);
      const std::int64_t count = std::min(range.end(), part.offset + part.count) - first;
      const std::int64_t place = part.held_offset + first - part.offset;
      if (count > 0 &&
          !device.all_finite(vectors_[Base::weights] + place * bytes_of(dtype()), dtype(), count))
        return fmt::format("in the parameter '{}'", range.name);
    }
  return "";
}

std::string Replica::first_not_finite(const BatchPointers& batch, const StepState& state) {
  finish_update();
  Program& train = program(training_of(batch));
  const Bases bases = bases_for(train, batch);
  if (std::string found = not_finite_before_step(train.graph(), bases); !found.empty())
    return found;
  // Weights and factors that were gathered into the arena must be gathered again, by all ranks. The
  // rank that finds the value first ends the waiting of the others.
  const bool all_ranks = closing().shards_weights() || !plan().factored.empty();
  const std::string node = train.first_not_finite(bases, state, 0, train.first_update(), all_ranks);
  return node.empty() ? "" : "the result of " + node;
}

void Replica::explain(const BatchPointers& batch, const StepState& state,
                      const StepResult& result) {
  const std::string culprit = first_not_finite(batch, state);
  // If it was not found here, the value came from another rank, which is about to say so.
  if (culprit.empty() && communicator_ != nullptr) communicator_->barrier();
  throw bad_step_error(state.step, &result, culprit);
}

Error bad_step_error(std::int64_t step, const StepResult* result, const std::string& culprit) {
  std::string what = "the loss or the gradient is not finite";
  if (result != nullptr)
    what = std::isfinite(result->loss) ? "the gradient is not finite"
                                       : fmt::format("the loss is {}", result->loss);
  return Error(
      "step {}: {}; the first value that is not finite is {}. Lower optimizer.rate, set "
      "optimizer.clip_norm, or look at the data",
      step, what, culprit.empty() ? "not reproducible on this rank" : culprit);
}

}  // namespace tutti
