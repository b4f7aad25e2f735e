#include "calibrate/suite/training_points.h"

namespace headway {
namespace {

/// make(batch, in, out) for each of the grid's large layers: what a difference of two times tells
/// of small ones is noise.
template <class Make>
void for_large_layers(const GemmGrid& grid, double most_flops, Make make) {
  for (const double batch : grid.batches) {
    for (const double in : grid.widths) {
      for (const double out : grid.widths) {
        const bool is_large = batch >= 1024.0 && in >= 2048.0 && out >= 2048.0;
        if (is_large && 2.0 * batch * in * out <= most_flops) make(batch, in, out);
      }
    }
  }
}

/// Experts of two widths: of a few large ones (Mixtral: 4096 by 14336, here half), and of many
/// small ones (DeepSeek-V3: 7168 by 2048).
void add_experts(std::vector<Point>& points, Precision precision, double most_flops, bool quick) {
  struct Experts {
    int count;
    double in;
    double out;
  };
  for (const auto& [count, in, out] : {Experts{8, 4096, 7168}, Experts{64, 7168, 2048}}) {
    for (const double rows : {32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0}) {
      const GemmShape forward{rows, out, in};
      if (count * forward.flops() > most_flops) continue;
      if (quick && rows != 64 && rows != 256 && rows != 1024) continue;
      points.emplace_back(GroupedGemmPoint{{forward, precision, GemmLayout::nt}, count, rows});
      points.emplace_back(
          GroupedGemmPoint{{{rows, in, out}, precision, GemmLayout::nn}, count, rows});
      points.emplace_back(
          GroupedGemmPoint{{{out, in, rows}, precision, GemmLayout::tn}, count, rows});
    }
  }
}

}  // namespace

std::vector<Point> training_points(const Offer& offer, const GemmGrid& grid, bool quick) {
  std::vector<Point> points;
  const double most = offer.most_gemm_flops;
  for_large_layers(grid, most, [&](double batch, double in, double out) {
    GemmPoint scaled{{batch, out, in}, Precision::fp8, GemmLayout::nt};
    scaled.block_scaled = true;
    if (offer.block_scaled_fp8) points.emplace_back(scaled);
    if (!offer.accumulated) return;
    GemmPoint gradient{{in, out, batch}, *offer.accumulated, GemmLayout::tn};
    gradient.accumulates = true;
    points.emplace_back(gradient);
  });
  if (offer.experts) add_experts(points, *offer.experts, most, quick);
  return points;
}

}  // namespace headway
