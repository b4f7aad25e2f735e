#include "calibrate/cuda/fused_attention.h"
#include "sim/base/diagnostic.h"

namespace headway {

class FusedAttention::Library {};

std::string FusedAttention::lacks() { return "built without cuDNN 9.8 or later"; }
std::string FusedAttention::version() { return ""; }

FusedAttention::FusedAttention(std::uint32_t /*seed*/) {}
FusedAttention::~FusedAttention() = default;
Enqueue FusedAttention::work(const AttentionPoint& /*point*/) {
  HEADWAY_CHECK(false, "fused attention was not offered");
}

}  // namespace headway
