// SPDX-License-Identifier: Apache-2.0
// A small problem in IDX files: images of 4×4, bright on the left (class 0) or on the right (1).
#pragma once

#include "cli/run_cli.h"

#include <string>

namespace tutti::cli {

constexpr int idx_extent = 4;

inline std::string idx_image(int label, int shade) {
  std::string pixels;
  for (int i = 0; i < idx_extent * idx_extent; ++i) {
    const bool right = i % idx_extent >= idx_extent / 2;
    pixels += static_cast<char>(right == (label == 1) ? 255 - shade : shade);
  }
  return pixels;
}

inline std::string idx_header(std::initializer_list<int> shape) {
  std::string bytes = {0, 0, 8, static_cast<char>(shape.size())};
  for (const int extent : shape) bytes += {0, 0, 0, static_cast<char>(extent)};
  return bytes;
}

// Image i has label i mod 2.
inline std::string idx_images(int count) {
  std::string bytes = idx_header({count, idx_extent, idx_extent});
  for (int i = 0; i < count; ++i) bytes += idx_image(i % 2, i);
  return bytes;
}

inline std::string idx_labels(int count) {
  std::string bytes = idx_header({count});
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(i % 2);
  return bytes;
}

// Writes idx.toml and its files: 40 images, 10 for testing.
inline void write_idx_recipe(const Sandbox& sandbox) {
  sandbox.write("images", idx_images(40));
  sandbox.write("labels", idx_labels(40));
  sandbox.write("test_images", idx_images(10));
  sandbox.write("test_labels", idx_labels(10));
  sandbox.write("idx.toml", R"([model]
name = "mlp"
hidden = [8]
[data]
name = "idx"
images = "images"
labels = "labels"
test_images = "test_images"
test_labels = "test_labels"
classes = 2
[train]
epochs = 5
batch = 8
[optimizer]
rate = 0.2
[machine]
threads = 1
)");
}

}  // namespace tutti::cli
