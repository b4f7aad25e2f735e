#include "calibrate/suite/concurrent_points.h"

namespace headway {

std::vector<ConcurrentPoint> concurrent_points(
    const std::vector<ConcurrentPoint::Work>& compute,
    const std::vector<ConcurrentPoint::Work>& transfers) {
  std::vector<ConcurrentPoint> points;
  for (const auto* works : {&compute, &transfers}) {
    for (const ConcurrentPoint::Work& work : *works) points.push_back({work, std::nullopt});
  }
  for (const ConcurrentPoint::Work& one : compute) {
    for (const ConcurrentPoint::Work& other : transfers) {
      points.push_back({one, other});
      points.push_back({other, one});
    }
  }
  return points;
}

}  // namespace headway
