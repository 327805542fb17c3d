// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/store_client.h"

#include "tutti/comm/collectives/collective.h"

#include <exception>

namespace tutti {

// A question may be on its way while an error unwinds.
StoreClient::~StoreClient() {
  if (std::uncaught_exceptions() > 0) communicator_.abandon();
}

void StoreClient::command(StoreCommand::Kind kind, std::int64_t first_step) {
  const StoreCommand told{kind, first_step, replica_.plan().closing.scheme.block_bytes};
  Request sent =
      communicator_.send(&told, sizeof told, endpoint(), communicator_.tags().of(store_command));
  wait(sent, communicator_, store_command.what.c_str());
}

std::vector<int> StoreClient::bases() const {
  std::vector<int> bases = {replica_.plan().store_base()};
  for (int k = 0; k < replica_.states(); ++k) bases.push_back(Base::optimizer + k);
  return bases;
}

Buffer StoreClient::part(int base) const {
  Buffer part(replica_.vectors().vector(base).bytes());
  replica_.device().copy_out(part.data(), replica_.vectors()[base], part.bytes());
  return part;
}

void StoreClient::load(std::int64_t first_step) {
  command(StoreCommand::load, first_step);
  for (const int base : bases()) {
    const Buffer given = part(base);
    Request sent = communicator_.send(given.data(), given.bytes(), endpoint(),
                                      communicator_.tags().of(store_part));
    wait(sent, communicator_, store_part.what.c_str());
  }
}

void StoreClient::ask(const StopWord& word) {
  if (communicator_.rank() > 0) return;
  wait(asked_, communicator_, store_question.what.c_str());
  question_ = word;
  asked_ = communicator_.send(question_.data(), sizeof question_, first_endpoint(),
                              communicator_.tags().of(store_question));
}

StoreWord StoreClient::hear() {
  StoreWord word;
  Request received = communicator_.receive(&word, sizeof word, first_endpoint(),
                                           communicator_.tags().of(store_answer));
  wait(received, communicator_, store_answer.what.c_str());
  return word;
}

// What a rank has pushed is applied when its step ends, so behind the first barrier all pushes are.
// The second barrier keeps ranks from pushing again before all have fetched.
void StoreClient::fetch() {
  communicator_.barrier();
  command(StoreCommand::fetch);
  Vectors& vectors = replica_.change_vectors();
  for (const int base : bases()) {
    const Buffer taken(vectors.vector(base).bytes());
    Request received = communicator_.receive(taken.data(), taken.bytes(), endpoint(),
                                             communicator_.tags().of(store_part));
    wait(received, communicator_, store_part.what.c_str());
    replica_.device().copy_in(vectors[base], taken.data(), taken.bytes());
  }
  take_weights();
  communicator_.barrier();
}

// The weights are put together on the first rank, then sent to all ranks. Weights that are not
// trained are not in the store.
void StoreClient::take_weights() {
  Vectors& vectors = replica_.change_vectors();
  const RangeTable& table = replica_.table();
  const std::int64_t each = bytes_of(replica_.dtype());
  Buffer whole = vectors.gather(replica_.plan().store_base());
  if (communicator_.rank() > 0) whole = Buffer(table.count() * each);
  if (communicator_.size() > 1) {
    const auto tell = broadcasts().find("tree").make(
        communicator_, {.dtype = replica_.dtype(),
                        .count = table.count(),
                        .tag = communicator_.tags().of({.what = "the weights of the store"}),
                        .what = "the weights of the store"});
    tell->start(whole.data());
    wait(*tell, communicator_);
  }
  for (const Range& range : table.ranges)
    if (range.trainable)
      replica_.device().copy_in(vectors[Base::weights] + range.offset * each,
                                whole.data() + range.offset * each, range.count * each);
}

void StoreClient::end() { command(StoreCommand::end); }

}  // namespace tutti
