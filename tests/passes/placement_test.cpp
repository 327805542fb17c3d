// SPDX-License-Identifier: Apache-2.0
#include "tutti/passes/placement.h"

#include "tutti/core/rng.h"
#include "tutti/passes/gaps.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Activations of a chain that is run forward and backward, each with scratch memory beside it.
std::vector<Piece> chain_pieces(int layers) {
  std::vector<Piece> pieces;
  for (int k = 0; k < layers; ++k) {
    const std::int64_t bytes = 64 * (1 + k % 5);
    pieces.push_back({bytes, k, 2 * layers - k});
    pieces.push_back({2 * bytes, k, k});
  }
  return pieces;
}

std::vector<Piece> random_pieces(int count, std::uint64_t seed) {
  std::vector<Piece> pieces;
  auto draw = [&, next = std::uint64_t{0}](int below) mutable {
    return static_cast<int>(fold(mix(seed), next++) % static_cast<std::uint64_t>(below));
  };
  for (int k = 0; k < count; ++k) {
    const int first = draw(count);
    pieces.push_back({64 * (1 + draw(20)), first, first + draw(1 + count / 4)});
  }
  return pieces;
}

void expect_valid(const std::vector<Piece>& pieces, const Placement& placement) {
  ASSERT_EQ(placement.offsets.size(), pieces.size());
  std::int64_t end = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t a = placement.offsets[i];
    ASSERT_GE(a, 0);
    end = std::max(end, a + pieces[i].bytes);
    for (std::size_t k = 0; k < i; ++k) {
      const std::int64_t b = placement.offsets[k];
      const bool meet = pieces[i].first <= pieces[k].last && pieces[k].first <= pieces[i].last;
      ASSERT_FALSE(meet && a < b + pieces[k].bytes && b < a + pieces[i].bytes) << i << " " << k;
    }
  }
  EXPECT_EQ(placement.bytes, end);
  EXPECT_GE(placement.bytes, placement.live_bytes);
}

TEST(Placement, PiecesInUseAtTheSameTimeDontOverlap) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Piece> pieces = random_pieces(60, seed);
    const Placement walked = place_pieces(pieces, 0), searched = place_pieces(pieces);
    expect_valid(pieces, walked);
    expect_valid(pieces, searched);
    EXPECT_LE(searched.bytes, walked.bytes);
    EXPECT_LE(static_cast<double>(walked.bytes), 1.5 * static_cast<double>(walked.live_bytes));
    EXPECT_EQ(place_pieces(pieces).offsets, searched.offsets);
  }
}

TEST(Placement, NothingNeedsNothing) { EXPECT_EQ(place_pieces({}).bytes, 0); }

TEST(Placement, AChainTakesNoMoreThanIsInUseAtOnce) {
  const std::vector<Piece> pieces = chain_pieces(100);
  const Placement placement = place_pieces(pieces);
  expect_valid(pieces, placement);
  EXPECT_EQ(placement.bytes, placement.live_bytes);
}

// Twice the pieces are about twice the work, however much was searched in small graphs.
TEST(Placement, WorkGrowsWithThePieces) {
  for (const auto& pieces_of : {+[](int count) { return chain_pieces(count); },
                                +[](int count) { return random_pieces(count, 1); }}) {
    const std::int64_t once = place_pieces(pieces_of(20'000), 0).steps;
    const std::int64_t twice = place_pieces(pieces_of(40'000), 0).steps;
    EXPECT_GE(once, 20'000);
    EXPECT_LE(twice, 3 * once);
  }
}

TEST(Placement, TheSearchIsBounded) {
  const std::vector<Piece> pieces = random_pieces(1000, 1);
  const std::int64_t walks = place_pieces(pieces, 0).steps;
  EXPECT_GT(place_pieces(pieces, 1'000'000).steps, walks);
  EXPECT_LE(place_pieces(pieces, 1'000'000).steps, walks + 1'000'000);
}

TEST(Gaps, TheLowestThatFitsIsTaken) {
  Gaps gaps;
  for (const std::int64_t bytes : {100, 40, 200, 40, 100}) gaps.take(bytes);
  EXPECT_EQ(gaps.end(), 480);
  gaps.give_back(0, 100);
  gaps.give_back(140, 200);
  EXPECT_EQ(gaps.take(120), 140);
  EXPECT_EQ(gaps.take(80), 0);
  EXPECT_EQ(gaps.take(90), 480);
}

TEST(Gaps, NeighboursBecomeOne) {
  Gaps gaps;
  for (int k = 0; k < 4; ++k) gaps.take(10);
  gaps.give_back(0, 10);
  gaps.give_back(20, 10);
  EXPECT_EQ(gaps.take(30), 40);  // no gap is as large
  gaps.give_back(10, 10);
  EXPECT_EQ(gaps.take(30), 0);
  gaps.give_back(40, 30);
  EXPECT_EQ(gaps.take(50), 40);  // begins in what is free below the end
  EXPECT_EQ(gaps.end(), 90);
}

}  // namespace
}  // namespace tutti
