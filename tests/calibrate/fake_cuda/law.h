#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <string>

namespace fake_cuda {

// What is true of the fake device: how long everything takes, at the clock that lasts. What the
// calibrator finds is held against it. About an H100 SXM.

constexpr double kPeak = 989e12;        ///< bf16 products
constexpr double kMemoryRate = 2.8e12;  ///< bytes/s of streaming kernels
constexpr double kHostRate = 55e9;      ///< bytes/s to and from pinned memory
constexpr double kLinkRate = 360e9;     ///< bytes/s of collectives
constexpr double kGap = 0.9e-6;         ///< between two kernels of a stream or a graph
constexpr double kStart = 2.5e-6;       ///< from the host's launch until an idle device begins
constexpr double kLaunch = 2.2e-6;      ///< of the host, a kernel
constexpr double kGraphLaunch = 6e-6;   ///< of the host, a graph, and for each of its nodes:
constexpr double kGraphNode = 0.02e-6;
constexpr double kCollectiveLaunch = 8e-6;  ///< of the host, a collective and device
constexpr double kBoostSeconds = 1.5;       ///< of work that a device does at its highest clock
constexpr double kBoost = 1.1;              ///< that clock over the one that lasts
constexpr double kHeatSeconds = 5.0;        ///< of work without a pause, after which the device is
constexpr double kHot = 0.95;               ///< so fast, until it has rested for
constexpr double kRest = 200e-6;
constexpr double kNoise = 0.003;  ///< relative, of every operation

constexpr double kBlockScaledRate = 0.9;    ///< of products with block scales, over one a tensor
constexpr double kAccumulationBytes = 6.0;  ///< a result that is added up, beyond writing 2 bytes

struct ProductLaw {
  bool block_scaled = false;
  bool accumulates = false;
};
/// A product of `batch` matrices: tiles of 128 x 256 in waves over 132 multiprocessors.
[[nodiscard]] double product_time(double m, double n, double k, double batch, cudaDataType type,
                                  const ProductLaw& law = {});
/// Fused attention of heads that all have keys of their own or share them.
struct AttentionLaw {
  double sequences = 1;
  double heads = 1;
  double length = 1;
  double head_size = 1;
  bool is_causal = false;
  bool is_backward = false;
};
constexpr double kAttentionRate = 0.6;      ///< of the peak, of heads of 128, forward
constexpr double kAttentionBackward = 0.8;  ///< of that rate, of 2.5 times the work
[[nodiscard]] double attention_time(const AttentionLaw& attention);
/// Of a kernel of kernels/; `name` is empty for one that has no law (a test fails then).
struct KernelLaw {
  std::string name;
  double time = 0.0;
  bool has_shuffles = false;
};
[[nodiscard]] KernelLaw kernel_law(const Launch& kernel);
[[nodiscard]] double copy_time(std::size_t bytes, cudaMemcpyKind kind);
[[nodiscard]] double peer_copy_time(std::size_t bytes);
/// `bytes` is the whole message as nccl-tests count it; `factor` of it pass over each link, in
/// `steps`.
[[nodiscard]] double collective_time(double bytes, double factor, double steps);

}  // namespace fake_cuda
