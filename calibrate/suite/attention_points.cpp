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

}  // namespace headway
