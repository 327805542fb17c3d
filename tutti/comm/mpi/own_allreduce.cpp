// SPDX-License-Identifier: Apache-2.0
// MPI's own allreduce: MPI_Iallreduce, which like all operations in flight is advanced by the rank
// or the transport's thread; and the blocking MPI_Allreduce, to compare with. MPI knows no bf16, so
// it is told how to add that.
#include "tutti/comm/collectives/algorithms.h"
#include "tutti/comm/mpi/call.h"
#include "tutti/comm/mpi/transport.h"

#include <climits>

namespace tutti {
namespace {

MPI_Datatype type_of(DType dtype) {
  if (dtype == DType::bf16) return MPI_UINT16_T;
  return dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE;
}

void add_bf16(void* in, void* inout, int* count, MPI_Datatype*) {
  collectives::accumulate(static_cast<Bf16*>(inout), static_cast<const Bf16*>(in), *count);
}

// Counts what any algorithm must send at least, as the library does not tell what it sends.
void count_sent(Communicator& communicator, const CollectiveArgs& args) {
  communicator.count_sent(2 * args.count * bytes_of(args.dtype) * (communicator.size() - 1) /
                          communicator.size());
}

class OwnAllreduce final : public Operation {
 public:
  OwnAllreduce(Communicator& communicator, MpiTransport& transport, const CollectiveArgs& args)
      : comm_(communicator),
        mpi_(transport),
        args_(args),
        channel_(mpi_.collective_channel(communicator, args.tag)),
        sum_(mpi_.sum_of(args.dtype)) {}

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    in_flight_.begin();
    count_sent(comm_, args_);
    request_ =
        mpi_.begin_sum(data, static_cast<int>(args_.count), type_of(args_.dtype), sum_, channel_);
  }

  const char* what() const override { return args_.what; }

  bool advance() override {
    const Turn turn(comm_);
    if (!turn) return false;
    if (!in_flight_) return true;
    if (!comm_.test(request_)) return false;
    in_flight_.end();
    return true;
  }

 private:
  Communicator& comm_;
  MpiTransport& mpi_;
  const CollectiveArgs args_;
  const MPI_Comm channel_;
  const MPI_Op sum_;
  Request request_;
  InFlight in_flight_{comm_, *this};
};

// MPI_Allreduce as an operation: start() returns when it is complete.
class BlockingAllreduce final : public Operation {
 public:
  BlockingAllreduce(Communicator& communicator, MpiTransport& transport, const CollectiveArgs& args)
      : comm_(communicator),
        mpi_(transport),
        args_(args),
        channel_(mpi_.collective_channel(communicator, args.tag)),
        sum_(mpi_.sum_of(args.dtype)) {}

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    count_sent(comm_, args_);
    mpi(MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(args_.count), type_of(args_.dtype), sum_,
                      channel_),
        "MPI_Allreduce");
  }
  bool advance() override { return true; }

 private:
  Communicator& comm_;
  MpiTransport& mpi_;
  const CollectiveArgs args_;
  const MPI_Comm channel_;
  const MPI_Op sum_;
};

}  // namespace

MPI_Op MpiTransport::sum_of(DType dtype) {
  if (dtype != DType::bf16) return MPI_SUM;
  const Lock lock(mutex_);
  if (bf16_sum_ == MPI_OP_NULL) mpi(MPI_Op_create(add_bf16, 1, &bf16_sum_), "MPI_Op_create");
  return bf16_sum_;
}

std::unique_ptr<Operation> MpiTransport::own_allreduce(Communicator& communicator,
                                                       const CollectiveArgs& args, bool blocks) {
  if (args.count > INT_MAX)
    throw Error("allreduce 'mpi' sums at most {} elements, not {}; use 'ring'", INT_MAX,
                args.count);
  if (blocks) return std::make_unique<BlockingAllreduce>(communicator, *this, args);
  return std::make_unique<OwnAllreduce>(communicator, *this, args);
}

}  // namespace tutti
