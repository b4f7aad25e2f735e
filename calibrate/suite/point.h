#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/memory_kernel.h"
#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/costs/collective_cost.h"
#include "sim/layers/kernel_shape.h"

namespace headway {

/// Which operand is stored transposed. A linear layer multiplies nn forward, nt for the gradient of
/// its input and tn for that of its weights.
enum class GemmLayout { nn, nt, tn };
template <>
inline constexpr Word<GemmLayout> kWords<GemmLayout>[] = {
    {"nn", GemmLayout::nn}, {"nt", GemmLayout::nt}, {"tn", GemmLayout::tn}};

struct GemmPoint {
  GemmShape shape;
  Precision precision = Precision::fp32;
  GemmLayout layout = GemmLayout::nn;
  /// Operands in fp8 with a scale for each block of 32 (mxfp8). Those in fp4 have one for each
  /// block of 16 (nvfp4) whatever this says, all others one for the whole.
  bool block_scaled = false;
  /// The result in fp32 and added to what stands there, as gradients of weights are.
  bool accumulates = false;
};

/// The same product of several operands in one call, as attention multiplies its heads.
struct BatchedGemmPoint {
  GemmPoint gemm;
  int batch = 1;
};

/// The same product for each of `experts` experts on rows and weights of their own, in one call: of
/// `rows` rows each in the forward pass, whichever of its three products this is.
struct GroupedGemmPoint {
  GemmPoint gemm;
  int experts = 1;
  double rows = 0;
};

/// A pass of fused attention, `is_plain`, in bf16. Forward writes what training keeps.
struct AttentionPoint {
  AttentionShape shape;
  Pass pass = Pass::forward;
};

struct MemoryPoint {
  MemoryKernel kernel = MemoryKernel::residual_add;
  std::size_t elements = 0;
};

/// `implementation` is a name that the backend offers ("ring", "nccl", "library"). `message` counts
/// as in nccl-tests: the whole buffer of an all-reduce, the gathered or unreduced one of the next
/// two, one rank's buffer of an all-to-all.
struct CollectivePoint {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string implementation;
  std::size_t message_bytes = 0;
  int ranks = 2;
};

/// Starting an empty kernel from the host; or what passes between two kernels of a captured graph.
struct LaunchPoint {
  bool in_graph = false;
};

enum class CopyKind {
  host_to_device,
  device_to_host,
  device_to_device,
  peer,
  few_blocks  ///< within the device by a kernel of few blocks, as a collective's kernels move data
};
template <>
inline constexpr Word<CopyKind> kWords<CopyKind>[] = {
    {"host_to_device", CopyKind::host_to_device},
    {"device_to_host", CopyKind::device_to_host},
    {"device_to_device", CopyKind::device_to_device},
    {"peer", CopyKind::peer},
    {"few_blocks", CopyKind::few_blocks}};
struct CopyPoint {
  CopyKind kind = CopyKind::device_to_device;
  std::size_t bytes = 0;
};

/// Work that shares the device with other work: timed while that runs over and over beside it, or
/// by itself where there is none.
struct ConcurrentPoint {
  using Work = std::variant<GemmPoint, MemoryPoint, CopyPoint, CollectivePoint>;
  Work timed;
  std::optional<Work> beside;
};

/// Something to be measured.
using Point = std::variant<GemmPoint, BatchedGemmPoint, GroupedGemmPoint, AttentionPoint,
                           MemoryPoint, CollectivePoint, LaunchPoint, CopyPoint, ConcurrentPoint>;

/// "bf16"; of a product with block scales "mxfp8" or "nvfp4".
[[nodiscard]] std::string_view format_name(const GemmPoint& gemm);

/// "gemm fp32 nn 256 x 512 x 1024", for progress and messages.
[[nodiscard]] std::string point_text(const Point& point);

}  // namespace headway
