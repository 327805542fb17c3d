// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/stack.h"

#include "tutti/comm/self.h"
#include "tutti/core/clock.h"
#include "tutti/core/memory.h"
#include "tutti/nn/models/dsn.h"
#include "tutti/train/journal.h"
#include "tutti/train/replica_options.h"
#include "tutti/train/resume.h"

#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <numeric>

namespace tutti {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The sums of the regression over the training samples; a sample is a column of H and of T.
struct NormalEquations {
  Matrix hh, ht;  // HHᵀ, HTᵀ
  double tt = 0;  // ‖T‖²

  NormalEquations(std::int64_t units, std::int64_t outputs)
      : hh(Matrix::Zero(units, units)), ht(Matrix::Zero(units, outputs)) {}

  // Rows of h and t are samples.
  void add(const Matrix& h, const Matrix& t) {
    hh.noalias() += h.transpose() * h;
    ht.noalias() += h.transpose() * t;
    tt += t.squaredNorm();
  }
  Matrix solution(double ridge) const {
    const Matrix sum = hh + ridge * Matrix::Identity(hh.rows(), hh.cols());
    const Eigen::LLT<Matrix> factors(sum);
    if (factors.info() != Eigen::Success)
      throw Error("the hidden units are not independent: give a ridge above {}", ridge);
    return factors.solve(ht);
  }
  // ‖T − UᵀH‖²
  double squared_error(const Matrix& u) const {
    return tt - 2 * u.cwiseProduct(ht).sum() + u.cwiseProduct(hh * u).sum();
  }
};

template <class T>
Matrix to_double(const std::vector<T>& values, std::int64_t rows) {
  using Given = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<std::int64_t>(values.size()) / rows;
  return Eigen::Map<const Given>(values.data(), rows, columns).template cast<double>();
}

// Copies the ranges that both tables have from one flat vector to the other.
void copy_shared(const Replica& from, const Replica& to) {
  const std::int64_t bytes_each = bytes_of(from.dtype());
  for (const Range& range : to.table().ranges) {
    Buffer values(range.count * bytes_each);
    const auto* source = static_cast<const std::byte*>(from.weights());
    from.device().copy_out(
        values.data(), source + from.table().find(range.name).offset * bytes_each, values.bytes());
    to.device().copy_in(static_cast<std::byte*>(to.weights()) + range.offset * bytes_each,
                        values.data(), values.bytes());
  }
}

class StackFit {
 public:
  StackFit(const Job& job, const data::Dataset& dataset)
      : job_(job),
        data_(dataset),
        input_(net_input(job, dataset)),
        outputs_(input_.classes > 0 ? input_.classes : elements(dataset.target_shape())),
        replica_(replica_options(job, input_, threads_per_rank(job, 1), nullptr)) {
    replica_.initialise(static_cast<std::uint64_t>(job.table("train").integer("seed")));
  }

  // Fits the output weights of a module. Returns the mean squared error after the fit.
  double fit(std::int64_t module, double ridge) {
    NormalEquations equations(units(), outputs_);
    dispatch_float(job_.dtype(), [&](auto zero) { accumulate<decltype(zero)>(module, equations); });
    const Matrix u = equations.solution(ridge);
    dispatch_float(job_.dtype(), [&](auto zero) { store<decltype(zero)>(module, u); });
    return equations.squared_error(u) / static_cast<double>(data_.count);
  }

  Replica& replica() { return replica_; }

 private:
  std::int64_t units() const { return job_.table("model").integer("hidden"); }

  // The network up to the hidden units of `module`, with the weights found so far.
  std::unique_ptr<Replica> hidden_units(std::int64_t module) const {
    NetInput input = input_;
    input.classes = 0;
    input.fields = input_and_targets(data_.sample_shape(), {units()});
    ReplicaOptions options = replica_options(job_, input, threads_per_rank(job_, 1), nullptr);
    const Settings settings{{"modules", module}, {"hidden", units()}, {"outputs", outputs_}};
    options.build = [settings](const NetInput& asked) {
      return build_net(nn::dsn_hidden, settings, asked);
    };
    auto made = std::make_unique<Replica>(options);
    copy_shared(replica_, *made);
    return made;
  }

  template <class T>
  void accumulate(std::int64_t module, NormalEquations& equations) const {
    const auto hidden = hidden_units(module);
    const std::int64_t batch = job_.table("train").integer("evaluation_batch");
    for (std::int64_t first = 0; first < data_.count; first += batch) {
      const std::int64_t count = std::min(batch, data_.count - first);
      std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
      std::iota(indices.begin(), indices.end(), first);
      const auto elements_of = [&](std::int64_t each) {
        return std::vector<T>(static_cast<std::size_t>(count * each));
      };
      std::vector<T> x = elements_of(elements(data_.sample_shape())), h = elements_of(units());
      std::vector<T> targets = elements_of(outputs_);
      std::vector<std::int32_t> labels(static_cast<std::size_t>(count));
      void* const answers = input_.classes > 0 ? labels.data() : static_cast<void*>(targets.data());
      data_.read(indices, {job_.dtype(), {x.data(), answers}});
      const std::vector<T> nothing = elements_of(units());  // targets and weights: no loss is read
      hidden->predict({count, count, {x.data(), nothing.data(), nothing.data()}}, h.data());
      Matrix t = to_double(targets, count);
      if (input_.classes > 0)
        for (std::int64_t i = 0; i < count; ++i) t(i, labels[static_cast<std::size_t>(i)]) = 1;
      equations.add(to_double(h, count), t);
    }
  }

  template <class T>
  void store(std::int64_t module, const Matrix& u) {
    const Range& range = replica_.table().find(nn::dsn_output_name(module) + ".weight");
    const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> weight =
        u.transpose().cast<T>();
    replica_.device().copy_in(static_cast<T*>(replica_.weights()) + range.offset, weight.data(),
                              range.count * static_cast<std::int64_t>(sizeof(T)));
  }

  const Job& job_;
  const data::Dataset& data_;
  NetInput input_;
  std::int64_t outputs_;
  Replica replica_;
};

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();  // null in the record

// The record of a fit, module by module.
class StackRecord {
 public:
  StackRecord(const Job& job, const Replica& replica, std::int64_t samples,
              const std::string& version)
      : job_(job), replica_(replica), samples_(samples), journal_(job, /*resumed=*/false) {
    TrainOptions options;
    options.version = version;
    journal_.begin(job, options, replica, threads_per_rank(job, 1), samples, 0);
    journal_.remark("fitted in closed form: a step is a module, its loss the squared error");
  }

  // Every module reads all training samples once.
  void module(std::int64_t count, double error) {
    const double before = last_.seconds;
    last_ = {.step = count,
             .epoch = static_cast<double>(count),
             .seconds = steady_seconds() - began_,
             .loss = error,
             .accuracy = unknown,
             .absolute_error = unknown,
             .gradient_norm = unknown,
             .rate = unknown};
    last_.samples_per_second = static_cast<double>(samples_) / (last_.seconds - before);
    journal_.step(last_);
  }

  void end(const std::optional<Evaluation>& test) {
    if (test) journal_.evaluation(last_, *test);
    if (!job_.checkpoint_path().empty()) journal_.checkpoint(last_, job_.checkpoint_path());
    TrainSummary summary{
        .steps_done = last_.step,
        .epochs_done = last_.step,
        .loss = last_.loss,
        .accuracy = unknown,
        .absolute_error = unknown,
        .seconds = steady_seconds() - began_,
        .samples_per_second = static_cast<double>(samples_ * last_.step) / last_.seconds,
        .memory = {replica_.planned_bytes(), peak_resident_bytes() - resident_before_}};
    if (test) {
      summary.evaluated = true;
      summary.test_loss = test->loss;
      summary.test_accuracy = test->accuracy;
      summary.test_absolute_error = test->absolute_error;
    }
    journal_.end(summary);
  }

 private:
  const Job& job_;
  const Replica& replica_;
  const std::int64_t samples_;
  Journal journal_;
  const double began_ = steady_seconds();
  const std::int64_t resident_before_ = resident_bytes();
  StepReport last_;
};

}  // namespace

FittedStack fit_stack(const Job& job, double ridge, const std::string& version) {
  if (job.model.name != "dsn")
    throw Error("{}: the model is '{}', expected 'dsn': only a deep stacking network is fitted so",
                job.recipe.file, job.model.name);
  if (job.ranks() != 1)
    throw Error("{}: partition.data is {}, expected 1: modules are fitted on one rank",
                job.recipe.file, job.ranks());
  const Settings& train = job.table("train");
  const auto dataset = open_data(job, data::Split::train);
  const auto test =
      train.integer("evaluate_every") > 0 ? open_data(job, data::Split::test) : nullptr;
  StackFit stack(job, *dataset);
  StackRecord record(job, stack.replica(), dataset->count, version);
  FittedStack fitted;
  for (std::int64_t k = 1; k <= job.table("model").integer("modules"); ++k) {
    fitted.errors.push_back(stack.fit(k, ridge));
    record.module(k, fitted.errors.back());
  }
  const data::Sampler sampler({.count = dataset->count,
                               .batch = train.integer("batch"),
                               .seed = static_cast<std::uint64_t>(train.integer("seed"))});
  save(job, stack.replica(), *dataset, sampler, 0, !job.checkpoint_path().empty());
  if (test) fitted.test = evaluate(job, stack.replica(), *test, *self_communicator());
  record.end(fitted.test);
  return fitted;
}

}  // namespace tutti
