#include "sim/workload/perturbation.h"

#include <algorithm>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <numbers>

namespace headway {
namespace {

/// SplitMix64's output function (Steele, Lea, Flood 2014): a bijection that mixes all bits.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A number in (0, 1) that depends on the seed and two counters only, never on the order of draws.
double uniform(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t bits = mixed(mixed(mixed(seed) ^ a) ^ b);
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52;  // exact, so never 0 or 1
}

/// The largest of `draws` lognormal numbers with median 1, where P(max <= x) = P(one <= x)^draws.
/// 1 - u^(1/n) is formed without cancellation, so that the upper tail is exact. Double precision
/// is enough for a draw, and this is where large jobs spend their time.
double largest_lognormal(double sigma, double u, int draws) {
  using InDoubles = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  const double upper = draws == 1 ? 1.0 - u : -std::expm1(std::log(u) / draws);
  return std::exp(sigma * std::numbers::sqrt2 * boost::math::erfc_inv(2.0 * upper, InDoubles()));
}

constexpr std::uint64_t kDeviceStream = ~std::uint64_t{0};

double device_time_factor(const Perturbation& perturbation, std::int32_t accelerator) {
  double factor = 1.0;
  if (perturbation.device_spread > 0.0) {
    const double u =
        uniform(perturbation.seed, kDeviceStream, static_cast<std::uint64_t>(accelerator));
    factor = largest_lognormal(perturbation.device_spread, u, 1);
  }
  const auto listed = perturbation.slow_accelerators.find(accelerator);
  return listed == perturbation.slow_accelerators.end() ? factor : factor * listed->second;
}

}  // namespace

bool Repair::covers(std::int32_t accelerator) const {
  return std::ranges::binary_search(accelerators, accelerator);
}

bool Repair::covers_block(const std::string& name) const {
  return std::ranges::find(blocks, name) != blocks.end();
}

double median_of_slowest(double spread, int draws) {
  return spread == 0.0 ? 1.0 : largest_lognormal(spread, 0.5, draws);
}

std::vector<double> device_time_factors(const Perturbation& perturbation,
                                        std::span<const std::int32_t> accelerators) {
  const Repair& repair = perturbation.repair;
  std::vector<double> factors;
  factors.reserve(accelerators.size());
  for (const std::int32_t accelerator : accelerators) {
    factors.push_back(repair.covers(accelerator) ? repair.time_factor
                                                 : device_time_factor(perturbation, accelerator));
  }
  return factors;
}

double typical_time_factor(const Perturbation& perturbation,
                           std::span<const std::int32_t> accelerators) {
  std::vector<double> factors;
  factors.reserve(accelerators.size());
  for (const std::int32_t accelerator : accelerators) {
    factors.push_back(device_time_factor(perturbation, accelerator));
  }
  if (factors.empty()) return 1.0;
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>((factors.size() - 1) / 2);
  std::ranges::nth_element(factors, middle);
  return *middle;
}

double block_time_factor(const Perturbation& perturbation,
                         std::span<const std::int32_t> accelerators,
                         std::span<const double> device_factors, std::uint32_t operation) {
  const auto [least, most] = std::ranges::minmax(device_factors);
  const double sigma = perturbation.operation_spread;
  if (sigma == 0.0) return most;
  const Repair& repair = perturbation.repair;
  const auto draw = [&](std::int32_t accelerator, int count) {
    if (repair.covers(accelerator)) return 1.0;
    const auto counter = static_cast<std::uint64_t>(accelerator);
    return largest_lognormal(sigma, uniform(perturbation.seed, counter, operation), count);
  };
  if (least == most && repair.accelerators.empty()) {
    return most * draw(accelerators[0], static_cast<int>(accelerators.size()));
  }
  double slowest = 0.0;
  for (std::size_t i = 0; i < device_factors.size(); ++i) {
    slowest = std::max(slowest, device_factors[i] * draw(accelerators[i], 1));
  }
  return slowest;
}

}  // namespace headway
