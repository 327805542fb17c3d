// SPDX-License-Identifier: Apache-2.0
// A rank's side of the store where ranks do not meet: the rank hands its part of the store to the
// endpoint beside it when training begins, and copies it back whenever all ranks come together, to
// evaluate or to write a checkpoint.
#pragma once

#include "tutti/train/store_messages.h"

#include <vector>

namespace tutti {

class StoreClient {
 public:
  // Both must outlive this object.
  StoreClient(Replica& replica, Communicator& communicator)
      : replica_(replica), communicator_(communicator) {}
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;
  ~StoreClient();

  // Hands the replica's weights and states to the endpoint, which begins to serve.
  void load(std::int64_t first_step);
  // Before each step the first rank asks all ranks for something, or for nothing. After each step
  // every rank hears what all ranks are to do, and after which step.
  void ask(const StopWord& word);
  StoreWord hear();
  // Gives the replica the weights of the store and this rank's part of the states. All ranks call
  // this after the same step.
  void fetch();
  // Ends the endpoint. All ranks call this when the last of them has fetched.
  void end();

 private:
  // Vectors of the replica that its endpoint holds: the store's weights and the rule's states.
  std::vector<int> bases() const;
  Buffer part(int base) const;
  // Gives the replica the weights of the store. All ranks call this.
  void take_weights();
  void command(StoreCommand::Kind kind, std::int64_t first_step = 0);
  int endpoint() const { return communicator_.size() + communicator_.rank(); }
  int first_endpoint() const { return communicator_.size(); }

  Replica& replica_;
  Communicator& communicator_;
  StopWord question_ = {};
  Request asked_;
};

}  // namespace tutti
