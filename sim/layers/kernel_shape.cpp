#include "sim/layers/kernel_shape.h"

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
    case Precision::fp4:
      return "fp4";
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
    case Precision::fp4:
      return 0.55;
  }
  HEADWAY_CHECK(false, "unknown precision");
}

std::string_view recipe_name(Scaling scaling) {
  switch (scaling) {
    case Scaling::delayed:
      return "fp8";
    case Scaling::current:
      return "fp8_current";
    case Scaling::rowwise:
      return "fp8_rowwise";
    case Scaling::mxfp8:
      return "mxfp8";
    case Scaling::nvfp4:
      return "nvfp4";
  }
  HEADWAY_CHECK(false, "unknown scaling");
}

std::string_view pass_name(Pass pass) { return pass == Pass::forward ? "forward" : "backward"; }

}  // namespace headway
