#include <gtest/gtest.h>

#include <numeric>

#include "hand_workload.h"

namespace headway {
namespace {

constexpr int kDimensions = 3;
constexpr int kGroups = 1 << kDimensions;
constexpr int kRounds = 240;
constexpr double kEnd = 3.0 * kRounds;  ///< a second of computing, two of half a link

/// Groups at the corners of a cube compute for a second and then send for as long as their link
/// takes, round after round; in each they share a link with their neighbour in the next dimension.
/// Of two flows that share a link the first ends a second before the other began if that is when
/// they meet: starts a and b give ends 2 a - b + 2 and a + 2. So differences grow from round to
/// round, and in 240 of them a million times.
Workload cube(const std::vector<int>& corner_of_group) {
  Program program{.name = "corner",
                  .blocks = {{"block", time_of(Cause::compute, Seconds(1.0))}},
                  .communicators = {"x", "y", "z"},
                  .collective_slots = kRounds};
  for (int round = 0; round < kRounds; ++round) {
    program.operations.push_back({.kind = OperationKind::compute, .block = 0});
    program.operations.push_back({.kind = OperationKind::join,
                                  .path = round % kDimensions,
                                  .slot = round,
                                  .amount = Bytes(50e9)});
    program.operations.push_back({.kind = OperationKind::wait, .slot = round});
  }
  Workload workload;
  workload.programs = {program};
  for (int group = 0; group < kGroups; ++group) {
    const int corner = corner_of_group[static_cast<std::size_t>(group)];
    RankGroup ranks{.replica = group, .accelerators = {corner}};
    for (int dimension = 0; dimension < kDimensions; ++dimension) {
      const auto id = static_cast<std::int32_t>(workload.communicators.size());
      // The lower corner of the edge names its link.
      const int edge = dimension * kGroups + (corner & ~(1 << dimension));
      workload.plans.push_back({.links = {{2 * edge, 1.0}}});
      workload.communicators.push_back({.name = "edge", .members = 1, .plan = id});
      ranks.communicators.push_back(id);
    }
    workload.groups.push_back(std::move(ranks));
  }
  return workload;
}

const Topology& edges() {
  static const Topology topology =
      star(std::vector<Seconds>(static_cast<std::size_t>(kDimensions * kGroups), Seconds(0.0)));
  return topology;
}

std::vector<int> in_order() {
  std::vector<int> corners(kGroups);
  std::iota(corners.begin(), corners.end(), 0);
  return corners;
}

/// When each corner is through.
std::vector<double> ends(const std::vector<int>& corner_of_group,
                         const Perturbation& perturbation) {
  const Timeline timeline = simulate_workload(cube(corner_of_group), edges(), perturbation);
  std::vector<double> of_corners(kGroups);
  for (std::int32_t group = 0; group < kGroups; ++group) {
    of_corners[static_cast<std::size_t>(corner_of_group[static_cast<std::size_t>(group)])] =
        timeline.ends_of(group).back();
  }
  return of_corners;
}

TEST(InStep, WhatIsAlikeStaysInStep) {
  for (const double end : ends(in_order(), {})) EXPECT_NEAR(end, kEnd, 1e-9);
}

TEST(InStep, DevicesThatDifferByRoundingAreAlike) {
  for (const double end : ends(in_order(), {.device_spread = 1e-13})) {
    EXPECT_NEAR(end, kEnd, 1e-9);
  }
  for (const double end : ends(in_order(), {.jitter = {.spread = 1e-13}})) {
    EXPECT_NEAR(end, kEnd, 1e-9);
  }
}

/// With spreads that count there is no step, but no order of groups either.
TEST(InStep, TheOrderOfGroupsDecidesNothing) {
  std::vector<int> corners = in_order();
  const Perturbation drawn{.device_spread = 0.02};
  const std::vector<double> expected = ends(corners, {});
  const std::vector<double> expected_of_drawn = ends(corners, drawn);
  for (int turn = 0; turn < 4; ++turn) {
    std::ranges::next_permutation(corners);
    std::ranges::reverse(corners.begin() + turn, corners.end());
    EXPECT_EQ(ends(corners, {}), expected);
    EXPECT_EQ(ends(corners, drawn), expected_of_drawn);
  }
}

}  // namespace
}  // namespace headway
