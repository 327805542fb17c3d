// SPDX-License-Identifier: Apache-2.0
#include "tutti/train/store_client.h"

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

void StoreClient::load(std::int64_t first_step) {
  command(StoreCommand::load, first_step);
  for (const Buffer& part : replica_.store_parts()) {
    Request sent = communicator_.send(part.data(), part.bytes(), endpoint(),
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

// What a rank has pushed is applied when its step ends: behind the first barrier all is. Nobody
// pushes again before all have fetched.
void StoreClient::fetch() {
  communicator_.barrier();
  command(StoreCommand::fetch);
  std::vector<Buffer> parts = replica_.store_parts();
  for (Buffer& part : parts) {
    Request received = communicator_.receive(part.data(), part.bytes(), endpoint(),
                                             communicator_.tags().of(store_part));
    wait(received, communicator_, store_part.what.c_str());
  }
  replica_.set_store_parts(parts);
  communicator_.barrier();
}

void StoreClient::end() { command(StoreCommand::end); }

}  // namespace tutti
