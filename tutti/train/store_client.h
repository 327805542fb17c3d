// SPDX-License-Identifier: Apache-2.0
// A rank's hold on the store where ranks do not meet: it hands its part to the endpoint beside it
// when the run begins, and takes it back whenever ranks meet after all, to evaluate or to write a
// checkpoint.
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

  // The endpoint begins to serve, with the weights and states that the replica has.
  void load(std::int64_t first_step);
  // Before each step the first rank says what it wants of all; after each step every rank hears
  // what all do after which step.
  void ask(const StopWord& word);
  StoreWord hear();
  // By all ranks after the same step: each has the weights of the store then, and its own part of
  // the states.
  void fetch();
  // By all ranks when the last of them has fetched.
  void end();

 private:
  // Vectors of the replica that its endpoint holds: the store's weights and the rule's states.
  std::vector<int> bases() const;
  Buffer part(int base) const;
  // By all ranks: the weights of the store become those of the replica.
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
