// SPDX-License-Identifier: Apache-2.0
#include "tutti/core/mesh.h"

#include "tutti/core/error.h"

#include <algorithm>
#include <sstream>

namespace tutti {

Mesh::Mesh(std::vector<MeshAxis> axes) : axes_(std::move(axes)) {
  for (std::size_t k = 0; k < axes_.size(); ++k) {
    if (axes_[k].size < 1)
      throw Error("mesh axis '{}' has {} ranks, expected at least 1", axes_[k].name, axes_[k].size);
    for (std::size_t other = 0; other < k; ++other)
      check(axes_[other].name != axes_[k].name, "the axes of a mesh have different names");
  }
}

int Mesh::ranks() const {
  int ranks = 1;
  for (const MeshAxis& axis : axes_) ranks *= axis.size;
  return ranks;
}

int Mesh::size(std::string_view axis) const {
  for (const MeshAxis& one : axes_)
    if (one.name == axis) return one.size;
  return 1;
}

int Mesh::size(const std::vector<std::string>& axes) const {
  int ranks = 1;
  for (const std::string& axis : axes) ranks *= size(axis);
  return ranks;
}

int Mesh::coordinate(int rank, std::string_view axis) const {
  int stride = 1;
  for (auto one = axes_.rbegin(); one != axes_.rend(); ++one) {
    if (one->name == axis) return rank / stride % one->size;
    stride *= one->size;
  }
  return 0;
}

std::vector<int> Mesh::members(int rank, const std::vector<std::string>& axes) const {
  std::vector<int> found = {0};
  for (const MeshAxis& axis : axes_) {
    const bool along = std::find(axes.begin(), axes.end(), axis.name) != axes.end();
    std::vector<int> next;
    for (const int before : found)
      for (int at = 0; at < axis.size; ++at)
        if (along || at == coordinate(rank, axis.name)) next.push_back(before * axis.size + at);
    found = std::move(next);
  }
  return found;
}

std::vector<std::string> axes_in(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::vector<std::string> axes;
  for (std::string word; words >> word;) axes.push_back(word);
  return axes;
}

}  // namespace tutti
