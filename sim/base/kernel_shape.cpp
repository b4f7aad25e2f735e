#include "sim/base/kernel_shape.h"

#include "sim/base/diagnostic.h"

namespace headway {

std::string_view precision_name(Precision precision) {
  switch (precision) {
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::fp16:
      return "fp16";
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
  }
  HEADWAY_CHECK(false, "unknown precision");
}

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
  }
  HEADWAY_CHECK(false, "unknown precision");
}

}  // namespace headway
