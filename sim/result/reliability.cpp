#include "sim/result/reliability.h"

#include <algorithm>

#include "sim/base/quantile.h"

namespace headway {

Percentiles percentiles_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {.mean = mean(values),
          .low = quantile(values, 0.05),
          .median = quantile(values, 0.5),
          .high = quantile(values, 0.95)};
}

}  // namespace headway
