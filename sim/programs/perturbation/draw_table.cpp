#include "sim/programs/perturbation/draw_table.h"

#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

namespace headway {
namespace {

constexpr std::size_t kMostShared = 256;  // of 24 KiB
constexpr int kMantissaBits = 52;
constexpr int kExponentOfHalf = 1022;  // as a double is stored

/// cos((2 k + 1) j pi / 2n) by j and k.
template <std::size_t n>
std::array<std::array<double, n>, n> cosines() {
  std::array<std::array<double, n>, n> all{};
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) {
      const double angle =
          std::numbers::pi * static_cast<double>(j * (2 * k + 1)) / static_cast<double>(2 * n);
      all[j][k] = std::cos(angle);
    }
  }
  return all;
}

/// The coefficients, powers ascending, of the polynomial through `values` at the Chebyshev nodes
/// cos((2 k + 1) pi / 2n): Chebyshev's series, summed up in powers with T(j + 1) = 2 t T(j) - T(j -
/// 1).
template <std::size_t n>
std::array<double, n> through_chebyshev_nodes(const std::array<double, n>& values) {
  static const auto kCosines = cosines<n>();  // dearer than the draws themselves
  std::array<double, n> sum{};
  std::array<double, n> before{};  // T(j - 1)
  std::array<double, n> term{};    // T(j)
  term[0] = 1.0;
  for (std::size_t j = 0; j < n; ++j) {
    double weight = 0.0;
    for (std::size_t k = 0; k < n; ++k) weight += values[k] * kCosines[j][k];
    weight *= (j == 0 ? 1.0 : 2.0) / static_cast<double>(n);
    std::array<double, n> after{};
    for (std::size_t power = 0; power < n; ++power) {
      sum[power] += weight * term[power];
      const double factor = j == 0 ? 1.0 : 2.0;  // T(1) = t
      if (power + 1 < n) after[power + 1] = factor * term[power];
    }
    for (std::size_t power = 0; power < n; ++power) after[power] -= before[power];
    before = term;
    term = after;
  }
  return sum;
}

}  // namespace

DrawTable::DrawTable(const Jitter& jitter, int draws)
    : jitter_(jitter),
      draws_(draws),
      is_smooth_(jitter.kind == Jitter::Kind::lognormal || jitter.kind == Jitter::Kind::gamma) {
  if (!is_smooth_) return;
  cells_.resize(std::size_t{2} * kOctaves << kCellBits);
  is_known_.assign(cells_.size(), false);
}

void DrawTable::fill(std::size_t cell) {
  const bool is_upper = cell >= cells_.size() / 2;
  const std::size_t below = is_upper ? cell - cells_.size() / 2 : cell;
  const auto octave = static_cast<int>(below >> kCellBits);
  const auto step = static_cast<double>(below & ((std::size_t{1} << kCellBits) - 1));
  Terms values;
  for (int k = 0; k < kTerms; ++k) {
    const double t = std::cos(std::numbers::pi * (2 * k + 1) / (2 * kTerms));
    const double mantissa = 1.0 + std::ldexp(step + 0.5 * (t + 1.0), -kCellBits);
    const double x = std::ldexp(mantissa, -octave - 2);
    values[static_cast<std::size_t>(k)] = largest_draw(jitter_, is_upper ? 1.0 - x : x, draws_);
  }
  cells_[cell] = through_chebyshev_nodes(values);
  is_known_[cell] = true;
}

double DrawTable::operator()(double u) {
  const bool is_upper = u > 0.5;
  const double x = is_upper ? 1.0 - u : u;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  // One half itself is the end of the first octave.
  const int octave = kExponentOfHalf - 1 - static_cast<int>(bits >> kMantissaBits);
  if (!is_smooth_ || octave < 0 || octave >= kOctaves) return largest_draw(jitter_, u, draws_);
  constexpr int kRestBits = kMantissaBits - kCellBits;
  const std::uint64_t step = (bits >> kRestBits) & ((std::uint64_t{1} << kCellBits) - 1);
  const std::size_t cell = (is_upper ? cells_.size() / 2 : 0) +
                           (static_cast<std::size_t>(octave) << kCellBits) +
                           static_cast<std::size_t>(step);
  if (!is_known_[cell]) fill(cell);
  const std::uint64_t rest = bits & ((std::uint64_t{1} << kRestBits) - 1);
  const double t = std::ldexp(1.0, 1 - kRestBits) * static_cast<double>(rest) - 1.0;
  // Estrin's scheme: Horner's waits for each product before the next.
  const Terms& a = cells_[cell];
  const double t2 = t * t;
  const double low = (a[0] + a[1] * t) + (a[2] + a[3] * t) * t2;
  const double high = (a[4] + a[5] * t) + (a[6] + a[7] * t) * t2;
  return low + high * (t2 * t2);
}

std::shared_ptr<DrawTable> shared_draw_table(const Jitter& jitter, int draws) {
  if (jitter.kind == Jitter::Kind::quantiles) return std::make_shared<DrawTable>(jitter, draws);
  using Key = std::tuple<Jitter::Kind, double, int>;
  thread_local std::map<Key, std::shared_ptr<DrawTable>> tables;
  if (tables.size() >= kMostShared) tables.clear();
  std::shared_ptr<DrawTable>& table = tables[{jitter.kind, jitter.spread, draws}];
  if (table == nullptr) table = std::make_shared<DrawTable>(jitter, draws);
  return table;
}

}  // namespace headway
