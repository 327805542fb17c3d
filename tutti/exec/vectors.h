// SPDX-License-Identifier: Apache-2.0
// The flat vectors of a rank: a list that says what each is, and the memory that they have.
// Weights, gradients, optimizer states and layer state are entries; whoever needs one more adds an
// entry.
#pragma once

#include "tutti/comm/communicator.h"
#include "tutti/core/device.h"
#include "tutti/core/dtype.h"
#include "tutti/core/flat.h"
#include "tutti/core/tensor.h"
#include "tutti/graph/graph.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tutti {

struct FlatVector {
  // replicated: equal on all ranks. sharded: cut over them. per_rank: every rank has one of its
  // own. by_stream: a rank has the rows of its own streams of samples.
  enum Spread { replicated, sharded, per_rank, by_stream };

  std::string name;  // "weights"
  int base = 0;      // the Base of the values that lie in it
  DType dtype = DType::f32;
  Spread spread = replicated;
  std::int64_t whole_count = 0;  // elements, of all ranks together
  VectorLayout layout = {};      // what this rank holds
  // What any rank holds; only for vectors that are cut.
  std::function<VectorLayout(int rank)> layout_of = {};
  bool common = false;  // ranks of one process have one memory for it

  std::int64_t bytes() const { return layout.count * bytes_of(dtype); }
  // Whether ranks hold different parts of a whole.
  bool is_cut() const { return spread == sharded || spread == by_stream; }
};

// Bytes of the vectors that a rank has to itself, and of those that ranks have in common.
struct VectorBytes {
  std::int64_t own = 0, common = 0;
  std::int64_t all() const { return own + common; }
};
VectorBytes bytes_of(const std::vector<FlatVector>& list);

// Pointers by Base.
struct Bases {
  std::array<std::byte*, Base::most> pointers = {};
  std::byte*& operator[](int base) { return pointers[static_cast<std::size_t>(base)]; }
  std::byte* operator[](int base) const { return pointers[static_cast<std::size_t>(base)]; }
  bool operator==(const Bases&) const = default;
  // Whether all pointers but those of inputs are equal.
  bool same_vectors(const Bases& other) const;
};

// The memory of a list of vectors. The device outlives it, and so does the communicator (nullptr:
// one rank).
class Vectors {
 public:
  Vectors(std::vector<FlatVector> list, const Device& device, Communicator* communicator);

  const std::vector<FlatVector>& list() const { return list_; }
  const FlatVector& vector(int base) const;
  // A vector in device memory; nullptr where the list has none of this base.
  std::byte* operator[](int base) const { return memory_[static_cast<std::size_t>(base)].get(); }
  Bases bases() const;

  // A whole vector, put together on rank 0 and empty elsewhere. Every rank calls this.
  Buffer gather(int base) const;
  // The vectors of all ranks on rank 0, none elsewhere. Every rank calls this.
  std::vector<Buffer> gather_each(int base) const;
  // Sets this rank's parts from a whole vector. Every rank calls this.
  void set(int base, const Buffer& whole);

 private:
  // Returns when no rank reads the vector any more, where ranks have it in common.
  void release(int base) const;
  Buffer own_copy(int base) const;
  int tag_of(const FlatVector& vector) const;

  std::vector<FlatVector> list_;
  const Device& device_;
  Communicator* communicator_;
  std::array<DeviceMemory, Base::most> memory_;
};

}  // namespace tutti
