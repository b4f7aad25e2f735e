#include "sim/predict/reliability/spot_supply.h"

#include <algorithm>
#include <cmath>

namespace headway {

SpotSupply::SpotSupply(const SpotNodes& spot, double start)
    : start_(start), length_(spot.record.length().count()) {
  // The last step only says when the record ends.
  const auto& steps = spot.record.steps;
  const std::size_t count = steps.size() - 1;
  const auto there = [&](std::size_t step) { return std::min(steps[step].nodes, spot.nodes); };
  for (std::size_t i = 0; i < count; ++i) {
    const int by = there((i + 1) % count) - there(i);
    if (by != 0) changes_.push_back({steps[i + 1].time.count(), by});
    if (steps[i].time.count() <= start_) first_ = there(i);
  }
  nodes_ = first_;
  while (place_ < changes_.size() && changes_[place_].time <= start_) ++place_;
}

double SpotSupply::time_of(std::size_t place) const {
  const std::size_t round = place / changes_.size();
  return static_cast<double>(round) * length_ + changes_[place % changes_.size()].time - start_;
}

double SpotSupply::next(bool rise) const {
  for (std::size_t i = place_; i < place_ + changes_.size(); ++i) {
    if ((changes_[i % changes_.size()].by > 0) == rise) return time_of(i);
  }
  return kNever;
}

int SpotSupply::advance() {
  const int by = changes_[place_ % changes_.size()].by;
  nodes_ += by;
  ++place_;
  return by;
}

double SpotSupply::node_seconds(double until) const {
  double sum = 0.0;
  double from = 0.0;
  int nodes = first_;
  std::size_t place = 0;
  while (place < changes_.size() && changes_[place].time <= start_) ++place;
  for (; !changes_.empty() && time_of(place) < until; ++place) {
    sum += nodes * (time_of(place) - from);
    from = time_of(place);
    nodes += changes_[place % changes_.size()].by;
  }
  return sum + nodes * (until - from);
}

}  // namespace headway
