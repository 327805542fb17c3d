// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/endpoint.h"

#include "tutti/compile/compile_step.h"
#include "tutti/exchange/close_step.h"
#include "tutti/exchange/stores/endpoints.h"
#include "tutti/exec/program.h"
#include "tutti/recipe/step_spec.h"
#include "tutti/train/run_sampler.h"
#include "tutti/train/simulated_step.h"
#include "tutti/train/stop.h"
#include "tutti/train/store_messages.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

namespace tutti {
namespace {

// What an endpoint does for the steps of one rank, and how many of them it has done.
struct Service {
  bool runs = false;  // the rank has begun to push
  std::unique_ptr<Program> program;
  std::shared_ptr<std::byte> pushed, answers, results, arena;
  Bases bases;
  std::int64_t steps = 0;
  StoreWord word;  // on its way to the rank, until `told` is done
  Request told;
};

class Endpoint {
 public:
  Endpoint(const TrainingRun& run, Communicator& communicator)
      : run_(run),
        communicator_(communicator),
        beside_(communicator.rank() - communicator.size()),
        pushes_(communicator.tags().of({store_axis, bad_step_message})),
        sampler_(sampler_of(run)),
        total_steps_(limits_of(run.job, run.training, sampler_).total_steps()) {}

  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  // Messages may be on their way while an error unwinds.
  ~Endpoint() {
    if (std::uncaught_exceptions() > 0) communicator_.abandon();
  }

  void serve() {
    const auto next_command = [this] { return advance() && communicator_.test(commanded_); };
    while (true) {
      commanded_ = communicator_.receive(&command_, sizeof command_, beside_,
                                         communicator_.tags().of(store_command));
      wait_until(std::ref(next_command), communicator_, "what ranks push");
      if (command_.kind == StoreCommand::end) return;
      if (command_.kind == StoreCommand::load)
        load();
      else
        give();
    }
  }

 private:
  // Takes this endpoint's parts of weights and states from the rank beside it.
  void load() {
    if (!compiler_) compile();
    for (const auto& part : parts_) receive(part.get());
    for (Service& service : services_) service.steps = command_.first_step;
    if (beside_ == 0) listen();
  }

  void compile() {
    const NetInput input = net_input(run_.job, run_.training);
    TransportFacts facts = communicator_.facts();
    facts.rank = beside_;
    StepSpec spec = step_spec(run_.job, input, 1, facts);
    spec.closing.scheme.block_bytes = command_.block_bytes;
    compiler_.emplace(std::move(spec));
    const VectorPlan& plan = compiler_->vectors();
    part_bytes_ =
        state_layout(plan.table(), plan.net.dtype, plan.closing).count * bytes_of(plan.net.dtype);
    const Device& device = *compiler_->kernels().device;
    for (int k = 0; k < 1 + plan.closing.update.rule->states; ++k)
      parts_.push_back(device.allocate(part_bytes_));
    services_.resize(static_cast<std::size_t>(communicator_.size()));
    for (int rank = 0; rank < communicator_.size(); ++rank)
      make(services_[static_cast<std::size_t>(rank)], rank);
  }

  void make(Service& service, int rank) {
    const Device& device = *compiler_->kernels().device;
    const VectorPlan& plan = compiler_->vectors();
    service.program = std::make_unique<Program>(
        compile_service(compiler_->spec(), plan, compiler_->kernels(), rank), compiler_->kernels(),
        KernelContext{.threads = 1, .rules = &compiler_->spec().rules}, &communicator_);
    if (const auto seconds = virtual_seconds(run_.job, 1))
      service.program->set_seconds(seconds(service.program->compiled()));
    service.pushed = device.allocate(part_bytes_);
    service.answers = device.allocate(part_bytes_);
    service.results = device.allocate(
        square_sum_offset + 8 * square_sums_of(plan.table(), plan.net.dtype, plan.closing));
    service.arena =
        device.allocate(std::max<std::int64_t>(service.program->memory().arena_bytes, 1));
    service.bases[Base::weights] = parts_[0].get();
    for (std::size_t k = 1; k < parts_.size(); ++k)
      service.bases[Base::optimizer + static_cast<int>(k) - 1] = parts_[k].get();
    service.bases[Base::gradients] = service.pushed.get();
    service.bases[Base::encoded] = service.answers.get();
    service.bases[Base::results] = service.results.get();
    service.bases[Base::arena] = service.arena.get();
  }

  void begin(Service& service) const {
    service.runs = true;
    service.program->begin(
        service.bases, {.step = service.steps,
                        .rate = rate_at(run_.job.schedule, run_.job.table("optimizer"),
                                        service.steps, total_steps_, sampler_.sampling().batch)});
  }

  // Advances the services of all ranks that have pushed. Returns true, for use in a condition.
  bool advance() {
    for (std::size_t rank = 0; rank < services_.size(); ++rank)
      if (services_[rank].runs) go_on(rank);
    while (!services_.empty()) {
      const auto pushes = communicator_.probe(pushes_);
      // On a device, a service may have begun and not yet received the message that began it.
      if (!pushes || services_[static_cast<std::size_t>(pushes->from)].runs) break;
      begin(services_[static_cast<std::size_t>(pushes->from)]);
      go_on(static_cast<std::size_t>(pushes->from));
    }
    return true;
  }

  void go_on(std::size_t rank) {
    Service& service = services_[rank];
    if (!service.program->advance()) return;
    service.runs = false;
    ++service.steps;
    if (beside_ == 0) tell(service, rank == 0);
  }

  // Starts to receive the next question of rank 0.
  void listen() {
    asked_ = communicator_.receive(question_.data(), sizeof question_, 0,
                                   communicator_.tags().of(store_question));
  }

  // Sends the current word to a rank whose step is done. Rank 0 asks a question in every step; when
  // it asks for something new, all ranks are to do it after a step that none of them has ended.
  void tell(Service& service, bool asks) {
    if (asks) {
      wait(asked_, communicator_, store_question.what.c_str());
      const auto by_steps = [](const Service& a, const Service& b) { return a.steps < b.steps; };
      const auto [first, last] = std::minmax_element(services_.begin(), services_.end(), by_steps);
      const Asked asked = asked_in(question_);
      if ((asked.stop || asked.checkpoint) && first->steps >= word_.step)
        word_ = {question_, static_cast<std::int32_t>(last->steps) + 1};
      listen();
    }
    wait(service.told, communicator_, store_answer.what.c_str());
    service.word = word_;
    const auto rank = static_cast<int>(&service - services_.data());
    service.told = communicator_.send(&service.word, sizeof service.word, rank,
                                      communicator_.tags().of(store_answer));
  }

  void receive(std::byte* part) const {
    Buffer host(part_bytes_);
    Request received = communicator_.receive(host.data(), host.bytes(), beside_,
                                             communicator_.tags().of(store_part));
    wait(received, communicator_, store_part.what.c_str());
    compiler_->kernels().device->copy_in(part, host.data(), host.bytes());
  }

  // Gives the parts back to the rank beside it.
  void give() {
    for (const auto& part : parts_) {
      Buffer host(part_bytes_);
      compiler_->kernels().device->copy_out(host.data(), part.get(), host.bytes());
      Request sent = communicator_.send(host.data(), host.bytes(), beside_,
                                        communicator_.tags().of(store_part));
      wait(sent, communicator_, store_part.what.c_str());
    }
  }

  const TrainingRun& run_;
  Communicator& communicator_;
  const int beside_;  // the rank beside this endpoint
  const int pushes_;  // the tag of the message that a rank sends first in a step
  const data::Sampler sampler_;
  const std::int64_t total_steps_;
  std::optional<StepCompiler> compiler_;
  std::int64_t part_bytes_ = 0;
  std::vector<std::shared_ptr<std::byte>> parts_;  // of weights, then of each state
  std::vector<Service> services_;                  // by rank
  StoreCommand command_;
  Request commanded_;
  StopWord question_ = {};  // of rank 0, received by asked_
  Request asked_;
  StoreWord word_;  // what all ranks are to do, and after which step
};

}  // namespace

void serve_store(const TrainingRun& run, Communicator& communicator) {
  Endpoint(run, communicator).serve();
}

}  // namespace tutti
