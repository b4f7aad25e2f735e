#include "sim/layers/kernel_shape.h"

#include "sim/base/diagnostic.h"

namespace headway {

double bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 4.0;
    case Precision::fp16:
    case Precision::bf16:
      return 2.0;
    case Precision::fp8:
      return 1.0;
    case Precision::fp4:
      return 0.5 + 1.0 / 16.0;
  }
  HEADWAY_CHECK(false, "unknown precision");
}

Precision precision_of(Scaling scaling) {
  return scaling == Scaling::nvfp4 ? Precision::fp4 : Precision::fp8;
}

double bytes_per_element(Scaling scaling) {
  const bool has_block_scales = scaling == Scaling::mxfp8 || scaling == Scaling::blockwise;
  return bytes_per_element(precision_of(scaling)) + (has_block_scales ? 1.0 / 32.0 : 0.0);
}

}  // namespace headway
