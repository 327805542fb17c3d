// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job are laid out: an ordered list of axes, each with a name and a size. A rank
// is a point on the mesh; along the last axis ranks follow each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// The group of all ends of a transport: ranks, and behind them the endpoints that stores have
// beside ranks. It stands for an axis beside the mesh.
inline constexpr const char* store_axis = "store";

struct MeshAxis {
  std::string name;
  int size = 1;
  bool operator==(const MeshAxis&) const = default;
};

class Mesh {
 public:
  Mesh() = default;  // of one rank
  explicit Mesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  int ranks() const;
  // Along one axis; 1 where the mesh does not have it.
  int size(std::string_view axis) const;
  // Of all ranks that differ along these axes only.
  int size(const std::vector<std::string>& axes) const;
  // The place of a rank along an axis; 0 where the mesh does not have it.
  int coordinate(int rank, std::string_view axis) const;
  // The ranks that differ from `rank` along these axes only, itself among them, in rank order.
  std::vector<int> members(int rank, const std::vector<std::string>& axes) const;

  bool operator==(const Mesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
};

// The axes in a text, as a setting of an operator names them: "data replica".
std::vector<std::string> axes_in(std::string_view text);

}  // namespace tutti
