#include "calibrate/suite/attention_points.h"

namespace headway {

std::vector<BatchedGemmPoint> attention_points(Precision precision, int heads, int sequence,
                                               int head_size) {
  const double s = sequence;
  const double d = head_size;
  return {{{{s, s, d}, precision, GemmLayout::nt}, heads},
          {{{s, d, s}, precision, GemmLayout::nn}, heads},
          {{{s, d, s}, precision, GemmLayout::tn}, heads}};
}

std::vector<AttentionPoint> fused_attention_points(const AttentionGrid& grid, double most_flops,
                                                   bool quick) {
  std::vector<AttentionPoint> points;
  AttentionShape shape{.query_heads = grid.query_heads};
  const auto add = [&] {
    if (shape.forward_flops() > most_flops) return;
    for (const Pass pass : {Pass::forward, Pass::backward}) points.push_back({shape, pass});
  };
  for (const bool causal : {true, false}) {
    if (quick && !causal) break;
    for (const double sequences : grid.sequences) {
      if (quick && sequences != grid.sequences.front()) break;
      for (const double length : grid.lengths) {
        for (const double head_size : grid.head_sizes) {
          for (const double key_heads : grid.key_heads) {
            shape.causal = causal;
            shape.sequences = sequences;
            shape.query_length = shape.key_length = length;
            shape.head_size = head_size;
            shape.key_heads = key_heads;
            add();
          }
        }
      }
    }
  }
  return points;
}

}  // namespace headway
