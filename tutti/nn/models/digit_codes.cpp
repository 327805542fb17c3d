// SPDX-License-Identifier: Apache-2.0
#include "tutti/nn/models/digit_codes.h"

#include "tutti/core/error.h"

#include <string_view>

namespace tutti::nn {
namespace {

// The digits 0 to 4, and below them 5 to 9, side by side with two columns between them.
// clang-format off
constexpr std::string_view upper[12] = {
    "..###..  ...#...  ..####.  #######  .....##",
    ".##.##.  ..##...  .##..##  .....##  ....###",
    "##...##  .###...  ##...##  ....##.  ...####",
    "##...##  ...#...  .....##  ...##..  ..##.##",
    "##...##  ...#...  .....##  ..####.  .##..##",
    "##...##  ...#...  ....##.  .....##  ##...##",
    "##...##  ...#...  ...##..  .....##  #######",
    "##...##  ...#...  ..##...  .....##  #######",
    "##...##  ...#...  .##....  .....##  .....##",
    "##...##  ...#...  ##.....  ##...##  .....##",
    ".##.##.  ...#...  ##.....  .##.##.  .....##",
    "..###..  .#####.  #######  ..###..  .....##",
};
constexpr std::string_view lower[12] = {
    "#######  ...###.  #######  .#####.  ..####.",
    "##.....  ..##...  ##...##  ##...##  .##..##",
    "##.....  .##....  .....##  ##...##  ##...##",
    "##.....  ##.....  ....##.  ##...##  ##...##",
    "##.....  ##.....  ....##.  .##.##.  ##...##",
    "######.  ##.###.  ...##..  ..###..  .##..##",
    ".....##  ###.###  ...##..  .##.##.  ..#####",
    ".....##  ##...##  ...##..  ##...##  .....##",
    ".....##  ##...##  ..##...  ##...##  .....##",
    ".....##  ##...##  ..##...  ##...##  .....##",
    "##...##  .##.##.  ..##...  ##...##  ....##.",
    ".#####.  ..###..  ..##...  .#####.  .####..",
};
// clang-format on

}  // namespace

std::vector<float> digit_codes(std::int64_t count) {
  check(count >= 0 && count <= digit_code_count, "there are ten digits");
  std::vector<float> codes;
  for (std::size_t digit = 0; digit < static_cast<std::size_t>(count); ++digit)
    for (const std::string_view row : digit < 5 ? upper : lower)
      for (const char pixel : row.substr(digit % 5 * 9, 7)) codes.push_back(pixel == '#' ? 1 : -1);
  return codes;
}

}  // namespace tutti::nn
