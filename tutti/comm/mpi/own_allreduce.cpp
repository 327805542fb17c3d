// SPDX-License-Identifier: Apache-2.0
// MPI's own allreduce: MPI_Iallreduce, which like all operations in flight is advanced by the rank
// or the transport's thread; and the blocking MPI_Allreduce, to compare with.
#include "tutti/comm/collectives/collective.h"
#include "tutti/comm/mpi/call.h"
#include "tutti/comm/mpi/communicator.h"

#include <climits>

namespace tutti {
namespace {

MPI_Datatype type_of(DType dtype) { return dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }

// What any algorithm must send at least: the library does not tell.
void count_sent(Communicator& communicator, const CollectiveArgs& args) {
  communicator.count_sent(2 * args.count * bytes_of(args.dtype) * (communicator.size() - 1) /
                          communicator.size());
}

class OwnAllreduce final : public Operation {
 public:
  OwnAllreduce(MpiCommunicator& communicator, const CollectiveArgs& args)
      : comm_(communicator), args_(args), channel_(comm_.collective_channel(args.tag)) {}

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    in_flight_.begin();
    count_sent(comm_, args_);
    request_ = comm_.begin_sum(data, static_cast<int>(args_.count), type_of(args_.dtype), channel_);
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
  MpiCommunicator& comm_;
  const CollectiveArgs args_;
  const MPI_Comm channel_;
  Request request_;
  InFlight in_flight_{comm_, *this};
};

// Complete when it has been started.
class BlockingAllreduce final : public Operation {
 public:
  BlockingAllreduce(MpiCommunicator& communicator, const CollectiveArgs& args)
      : comm_(communicator), args_(args), channel_(comm_.collective_channel(args.tag)) {}

  void start(void* data) override {
    const std::lock_guard lock(comm_);
    count_sent(comm_, args_);
    mpi(MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(args_.count), type_of(args_.dtype),
                      MPI_SUM, channel_),
        "MPI_Allreduce");
  }
  bool advance() override { return true; }

 private:
  MpiCommunicator& comm_;
  const CollectiveArgs args_;
  const MPI_Comm channel_;
};

}  // namespace

std::unique_ptr<Operation> MpiCommunicator::own_allreduce(const CollectiveArgs& args, bool blocks) {
  if (args.count > INT_MAX)
    throw Error("allreduce 'mpi' sums at most {} elements, not {}; use 'ring'", INT_MAX,
                args.count);
  if (blocks) return std::make_unique<BlockingAllreduce>(*this, args);
  return std::make_unique<OwnAllreduce>(*this, args);
}

}  // namespace tutti
