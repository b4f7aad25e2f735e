#include "sim/result/shared_fabric.h"

#include <algorithm>
#include <cmath>

namespace headway {

std::vector<SharedFabric::Total> SharedFabric::totals() const {
  std::vector<Total> totals;
  for (const Stay& first : stays) {
    if (std::ranges::find(totals, first.job, &Total::job) != totals.end()) continue;
    Total total{.job = first.job};
    double possible = 0.0;  // samples, had the job been alone
    double open_ended = 0.0;
    for (const Stay& stay : stays) {
      if (stay.job != first.job) continue;
      if (!std::isfinite(stay.to)) {
        open_ended = stay.slowdown();
        continue;
      }
      total.samples += stay.samples * (stay.to - stay.from) / stay.shared.count();
      possible += stay.samples * (stay.to - stay.from) / stay.alone.count();
    }
    total.slowdown = open_ended > 0.0 ? open_ended : possible / total.samples;
    totals.push_back(std::move(total));
  }
  return totals;
}

double SharedFabric::slowdown_over(Seconds alone) const {
  double worked = 0.0;  // seconds alone
  double taken = 0.0;
  for (const Stay& stay : stays) {
    if (stay.job != stays.front().job) continue;
    const double left = alone.count() - worked;
    if (!std::isfinite(stay.to)) {
      const bool has_company = std::ranges::any_of(stays, [&](const Stay& other) {
        return other.job != stay.job && other.from == stay.from;
      });
      if (std::isfinite(left)) return (taken + left * stay.slowdown()) / alone.count();
      return has_company || worked == 0.0 ? stay.slowdown() : taken / worked;
    }
    const double possible = (stay.to - stay.from) / stay.slowdown();
    if (possible >= left) return (taken + left * stay.slowdown()) / alone.count();
    worked += possible;
    taken += stay.to - stay.from;
  }
  return worked > 0.0 ? taken / worked : 1.0;
}

}  // namespace headway
