#include "sim/predict/input/input_bound.h"

#include <algorithm>
#include <cmath>

namespace headway {

Seconds input_bound_step(const InputDemand& demand, BytesPerSecond bandwidth) {
  return max(demand.compute, demand.batch / bandwidth);
}

BytesPerSecond demand_at(const InputDemand& demand, double utilisation) {
  return utilisation * (demand.batch / demand.compute);
}

std::int64_t accelerators_fed(const InputDemand& demand, BytesPerSecond store, double utilisation) {
  return static_cast<std::int64_t>(std::floor(store / demand_at(demand, utilisation)));
}

}  // namespace headway
