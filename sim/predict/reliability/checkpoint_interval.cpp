#include "sim/predict/reliability/checkpoint_interval.h"

#include <cmath>

namespace headway {

Seconds young_interval(Seconds cost, Seconds mttf) {
  return Seconds(std::sqrt(2.0 * cost.count() * mttf.count()));
}

Seconds daly_interval(Seconds cost, Seconds mttf) {
  const double half = cost.count() / (2.0 * mttf.count());
  if (half >= 1.0) return mttf;
  return young_interval(cost, mttf) * (1.0 + std::sqrt(half) / 3.0 + half / 9.0) - cost;
}

}  // namespace headway
