// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job are laid out: an ordered list of axes, each with a name and a size. A rank
// is a point on the mesh; consecutive ranks are neighbours along the last axis.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// Names the group of all ends of a transport: first the ranks, then the endpoints of the store. The
// name is used like that of an axis, but no mesh has such an axis.
inline constexpr const char* store_axis = "store";

struct MeshAxis {
  std::string name;
  int size = 1;
  bool operator==(const MeshAxis&) const = default;
};

class Mesh {
 public:
  Mesh() = default;  // a mesh of one rank
  explicit Mesh(std::vector<MeshAxis> axes);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  int ranks() const;
  // Ranks along one axis; 1 where the mesh does not have the axis.
  int size(std::string_view axis) const;
  // Ranks of a group along these axes.
  int size(const std::vector<std::string>& axes) const;
  // The place of a rank along an axis; 0 where the mesh does not have the axis.
  int coordinate(int rank, std::string_view axis) const;
  // The ranks that differ from `rank` along these axes only, `rank` included, in rank order.
  std::vector<int> members(int rank, const std::vector<std::string>& axes) const;

  bool operator==(const Mesh&) const = default;

 private:
  std::vector<MeshAxis> axes_;
};

// The axes in a text, as a setting of an operator names them: "data replica".
std::vector<std::string> axes_in(std::string_view text);

}  // namespace tutti
