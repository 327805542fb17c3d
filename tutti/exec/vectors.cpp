// SPDX-License-Identifier: Apache-2.0
#include "tutti/exec/vectors.h"

#include "tutti/comm/shared_memory.h"

#include <algorithm>
#include <cstring>

namespace tutti {

VectorBytes bytes_of(const std::vector<FlatVector>& list) {
  VectorBytes bytes;
  for (const FlatVector& vector : list)
    (vector.common ? bytes.common : bytes.own) += vector.bytes();
  return bytes;
}

bool Bases::same_vectors(const Bases& other) const {
  for (int base = 0; base < Base::most; ++base)
    if (!Base::is_input(base) && (*this)[base] != other[base]) return false;
  return true;
}

Vectors::Vectors(std::vector<FlatVector> list, const Device& device, Communicator* communicator)
    : list_(std::move(list)), device_(device), communicator_(communicator) {
  for (const FlatVector& vector : list_) {
    const auto allocate = [&] {
      return device.allocate(std::max<std::int64_t>(vector.bytes(), 8));
    };
    auto& memory = memory_[static_cast<std::size_t>(vector.base)];
    check(memory == nullptr, "vectors have different bases");
    memory =
        vector.common ? communicator->shared()->common(communicator->rank(), allocate) : allocate();
  }
}

const FlatVector& Vectors::vector(int base) const {
  const auto found = std::find_if(list_.begin(), list_.end(),
                                  [&](const FlatVector& one) { return one.base == base; });
  check(found != list_.end(), "the rank has the vector");
  return *found;
}

Bases Vectors::bases() const {
  Bases bases;
  for (std::size_t base = 0; base < memory_.size(); ++base)
    bases.pointers[base] = memory_[base].get();
  return bases;
}

int Vectors::tag_of(const FlatVector& vector) const {
  return communicator_->tags().of({.what = vector.name});
}

Buffer Vectors::own_copy(int base) const {
  Buffer own(vector(base).bytes());
  device_.copy_out(own.data(), (*this)[base], own.bytes());
  return own;
}

Buffer Vectors::gather(int base) const {
  const FlatVector& gathered = vector(base);
  const bool first = communicator_ == nullptr || communicator_->rank() == 0;
  Buffer own = own_copy(base);
  if (!gathered.is_cut() || communicator_ == nullptr) return first ? std::move(own) : Buffer();
  if (!first) {
    Request sent = communicator_->send(own.data(), own.bytes(), 0, tag_of(gathered));
    wait(sent, *communicator_);
    return {};
  }
  const std::int64_t element_bytes = bytes_of(gathered.dtype);
  Buffer whole(gathered.whole_count * element_bytes);
  for (int rank = 0; rank < communicator_->size(); ++rank) {
    const VectorLayout layout = gathered.layout_of(rank);
    if (rank > 0) {
      own = Buffer(layout.count * element_bytes);
      Request received = communicator_->receive(own.data(), own.bytes(), rank, tag_of(gathered));
      wait(received, *communicator_);
    }
    for (const VectorPart& part : layout.parts)
      std::memcpy(whole.data() + part.offset * element_bytes,
                  own.data() + part.held_offset * element_bytes,
                  static_cast<std::size_t>(part.count * element_bytes));
  }
  return whole;
}

std::vector<Buffer> Vectors::gather_each(int base) const {
  std::vector<Buffer> all;
  all.push_back(own_copy(base));
  const int tag = tag_of(vector(base));
  if (communicator_->rank() > 0) {
    Request sent = communicator_->send(all[0].data(), all[0].bytes(), 0, tag);
    wait(sent, *communicator_);
    return {};
  }
  for (int rank = 1; rank < communicator_->size(); ++rank) {
    Buffer& theirs = all.emplace_back(vector(base).bytes());
    Request received = communicator_->receive(theirs.data(), theirs.bytes(), rank, tag);
    wait(received, *communicator_);
  }
  return all;
}

void Vectors::set(int base, const Buffer& whole) {
  const FlatVector& set = vector(base);
  release(base);
  const std::int64_t element_bytes = bytes_of(set.dtype);
  if (!set.common || communicator_->rank() == 0)
    for (const VectorPart& part : set.layout.parts)
      device_.copy_in((*this)[base] + part.held_offset * element_bytes,
                      whole.data() + part.offset * element_bytes, part.count * element_bytes);
  release(base);
}

void Vectors::release(int base) const {
  if (vector(base).common) communicator_->barrier();
}

}  // namespace tutti
