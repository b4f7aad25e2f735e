#include "sim/predict/statistics/gradient_noise.h"

namespace headway {

double steps_ratio(double noise, double from, double to) {
  return (1.0 + noise / to) / (1.0 + noise / from);
}

}  // namespace headway
