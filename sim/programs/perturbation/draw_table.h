#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/programs/perturbation/jitter.h"

namespace headway {

/// `largest_draw` of one jitter and number of draws, for runs that draw a million times: inverting
/// a distribution takes as long as simulating a block. Between powers of two u, and 1 - u above one
/// half, is cut into cells; in each the function is the polynomial through its values at the
/// Chebyshev nodes, made when first asked for. The nearest singularity (u of 0 or 1) is 33
/// half-widths of a cell away from its middle, so that the polynomial is off by about 66^-8 of what
/// the function changes by within the cell (Trefethen, Approximation Theory and Approximation
/// Practice, theorem 8.2): rounding.
class DrawTable {
 public:
  DrawTable(const Jitter& jitter, int draws);

  /// largest_draw(jitter, u, draws), to rounding.
  [[nodiscard]] double operator()(double u);

 private:
  static constexpr int kOctaves = 12;  ///< below 2^-13 on either side nothing is tabulated
  static constexpr int kCellBits = 4;  ///< an octave is cut into 2^kCellBits cells
  static constexpr int kTerms = 8;     ///< as the evaluation is written out for
  using Terms = std::array<double, kTerms>;

  void fill(std::size_t cell);

  Jitter jitter_;
  int draws_;
  bool is_smooth_;            ///< else it is cheap and has corners
  std::vector<Terms> cells_;  ///< of u from one half down, then of 1 - u; powers ascending
  std::vector<bool> is_known_;
};

/// The table of such draws, one for all of this thread that ask: short runs of one profile, points
/// of a sweep say, would take longer to fill theirs than to run.
[[nodiscard]] std::shared_ptr<DrawTable> shared_draw_table(const Jitter& jitter, int draws);

}  // namespace headway
