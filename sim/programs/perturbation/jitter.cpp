#include "sim/programs/perturbation/jitter.h"

#include <algorithm>
#include <cmath>

#include "sim/base/diagnostic.h"
#include "sim/base/quantile.h"

namespace headway {

double Jitter::least() const {
  constexpr double kSigmas = 6.0;
  switch (kind) {
    case Kind::lognormal:
      return std::exp(-kSigmas * spread);
    case Kind::gamma:
      return spread == 0.0 ? 1.0 : 0.0;
    case Kind::exponential:
      return 1.0;
    case Kind::quantiles:
      return quantiles.front();
  }
  HEADWAY_CHECK(false, "unknown kind of jitter");
}

double largest_draw(const Jitter& jitter, double u, int draws) {
  // 1 - u^(1/n), formed without cancellation, so that the upper tail is exact.
  const double upper = draws == 1 ? 1.0 - u : -std::expm1(std::log(u) / draws);
  switch (jitter.kind) {
    case Jitter::Kind::lognormal:
      return std::exp(jitter.spread * normal_tail_quantile(upper));
    case Jitter::Kind::gamma: {
      // Shape 1 / cv^2 and scale cv^2 give mean 1 and the coefficient of variation cv.
      const double scale = jitter.spread * jitter.spread;
      return scale * gamma_tail_quantile(1.0 / scale, upper);
    }
    case Jitter::Kind::exponential:
      return 1.0 - jitter.spread * std::log(upper);
    case Jitter::Kind::quantiles: {
      const auto& known = jitter.quantiles;
      const double place = (1.0 - upper) * static_cast<double>(known.size() - 1);
      const auto below = std::min(static_cast<std::size_t>(place), known.size() - 2);
      const double share = place - static_cast<double>(below);
      return known[below] + share * (known[below + 1] - known[below]);
    }
  }
  HEADWAY_CHECK(false, "unknown kind of jitter");
}

double median_of_slowest(const Jitter& jitter, int draws) {
  return jitter.none() ? 1.0 : largest_draw(jitter, 0.5, draws);
}

}  // namespace headway
