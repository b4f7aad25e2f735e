#include "calibrate/suite/point.h"

#include <fmt/format.h>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

struct PointText {
  std::string operator()(const GemmPoint& gemm) const {
    return fmt::format("gemm {} {} {} x {} x {}{}", format_name(gemm), word_of(gemm.layout),
                       gemm.shape.m, gemm.shape.n, gemm.shape.k,
                       gemm.accumulates ? ", added up in fp32" : "");
  }
  std::string operator()(const BatchedGemmPoint& batched) const {
    return fmt::format("{} times {}", batched.batch, (*this)(batched.gemm));
  }
  std::string operator()(const GroupedGemmPoint& grouped) const {
    return fmt::format("{} experts of {}", grouped.experts, (*this)(grouped.gemm));
  }
  std::string operator()(const AttentionPoint& attention) const {
    const AttentionShape& shape = attention.shape;
    return fmt::format("attention {} {} x {}, {} heads of {}, {} of keys, {}",
                       word_of(attention.pass), shape.sequences, shape.query_length,
                       shape.query_heads, shape.head_size, shape.key_heads,
                       shape.causal ? "causal" : "full");
  }
  std::string operator()(const MemoryPoint& memory) const {
    return fmt::format("{} of {} elements", memory_kernel_name(memory.kernel), memory.elements);
  }
  std::string operator()(const CollectivePoint& collective) const {
    return fmt::format("{} of {} among {} ranks ({})", collective_name(collective.kind),
                       short_text(Bytes(static_cast<double>(collective.message_bytes))),
                       collective.ranks, collective.implementation);
  }
  std::string operator()(const LaunchPoint& launch) const {
    return launch.in_graph ? "launch in a graph" : "launch from the host";
  }
  std::string operator()(const CopyPoint& copy) const {
    return fmt::format("copy {} of {}", word_of(copy.kind),
                       short_text(Bytes(static_cast<double>(copy.bytes))));
  }
  std::string operator()(const ConcurrentPoint& concurrent) const {
    const std::string timed = std::visit(PointText{}, concurrent.timed);
    return concurrent.beside ? timed + " beside " + std::visit(PointText{}, *concurrent.beside)
                             : timed + " by itself";
  }
};

}  // namespace

std::string_view format_name(const GemmPoint& gemm) {
  if (gemm.precision == Precision::fp4) return word_of(Scaling::nvfp4);
  return gemm.block_scaled ? word_of(Scaling::mxfp8) : word_of(gemm.precision);
}

std::string point_text(const Point& point) { return std::visit(PointText{}, point); }

}  // namespace headway
