// SPDX-License-Identifier: Apache-2.0
// Where data sets that were fetched are kept.
#pragma once

#include <filesystem>

namespace tutti::data {

// $TUTTI_DATA, or $XDG_DATA_HOME/tutti, or ~/.local/share/tutti. Need not exist.
std::filesystem::path data_folder();

inline std::filesystem::path mnist_folder() { return data_folder() / "mnist"; }
inline std::filesystem::path cifar10_folder() { return data_folder() / "cifar10"; }

}  // namespace tutti::data
