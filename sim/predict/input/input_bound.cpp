#include "sim/predict/input/input_bound.h"

namespace headway {

BytesPerSecond demand_at(const InputDemand& demand, double utilisation) {
  return utilisation * (demand.batch / demand.compute);
}

}  // namespace headway
