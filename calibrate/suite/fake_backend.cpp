#include "calibrate/suite/fake_backend.h"

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <utility>

#include "calibrate/suite/attention_points.h"
#include "calibrate/suite/concurrent_points.h"
#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

struct LawOfPoint {
  const FakeLaw& law;

  double operator()(const GemmPoint& gemm) const {
    const double rate = law.flops_per_s * (gemm.precision == Precision::fp8 ? 2.0 : 1.0) *
                        (gemm.block_scaled ? law.block_scaled_rate : 1.0);
    const double adding = gemm.accumulates ? law.accumulation_bytes * gemm.shape.m * gemm.shape.n /
                                                 law.memory_bytes_per_s
                                           : 0.0;
    return gemm.shape.flops() / rate * (1.0 + law.inner_half / gemm.shape.k) + law.gemm_overhead +
           adding;
  }
  /// The form of grouped_gemm_cost (sim/costs/kernel_cost.h), with bf16's traffic.
  double operator()(const GroupedGemmPoint& grouped) const {
    const GemmShape& shape = grouped.gemm.shape;
    const double traffic =
        2.0 * (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n) / law.memory_bytes_per_s;
    const double compute = shape.flops() / law.flops_per_s / law.grouped_efficiency;
    return grouped.experts *
           (std::max(compute, traffic) + law.grouped_half_rows / grouped.rows * compute);
  }
  /// The form of unfused_attention_cost (sim/costs/kernel_cost.h), with bf16's traffic.
  double operator()(const BatchedGemmPoint& batched) const {
    const GemmShape& shape = batched.gemm.shape;
    const double elements = shape.m * shape.k + shape.k * shape.n + shape.m * shape.n;
    const Seconds multiplying(shape.flops() / law.flops_per_s / law.batched_efficiency);
    const Seconds moving(2.0 * elements / law.memory_bytes_per_s);
    return batched.batch * head_product_time(multiplying, moving).count();
  }
  /// The form of fused_attention_cost (sim/costs/kernel_cost.h).
  double operator()(const AttentionPoint& attention) const {
    const AttentionShape& shape = attention.shape;
    const double rate =
        law.attention_flops_per_s / (1.0 + law.attention_sequence_half / shape.key_length) *
        std::pow(std::min(1.0, shape.head_size / 128.0), law.attention_head_exponent);
    const double time = fused_operations(attention.pass) * shape.forward_flops() / rate;
    return attention.pass == Pass::backward ? time / law.attention_backward : time;
  }
  double operator()(const MemoryPoint& memory) const {
    const double traffic =
        static_cast<double>(memory.elements) * traffic_bytes_per_element(memory.kernel, 2.0);
    const double rate = traffic <= law.cache_bytes ? law.cache_bytes_per_s : law.memory_bytes_per_s;
    return law.memory_latency + traffic / rate;
  }
  double operator()(const CollectivePoint& collective) const {
    const CollectiveVolume volume =
        collective_volume(collective.kind, CollectiveAlgorithm::ring, collective.ranks);
    const double bytes = static_cast<double>(collective.message_bytes);
    const double extra = bytes > law.eager_bytes ? law.rendezvous_latency : 0.0;
    return volume.steps * law.step_latency + extra +
           volume.bytes_factor * bytes / law.link_bytes_per_s;
  }
  double operator()(const LaunchPoint& launch) const { return launch.in_graph ? 1.5e-6 : 4e-6; }
  double operator()(const CopyPoint& copy) const {
    return 8e-6 + static_cast<double>(copy.bytes) /
                      (copy.kind == CopyKind::device_to_device ? 5e11 : 2.5e10);
  }
  double operator()(const ConcurrentPoint& concurrent) const {
    const double alone = std::visit(*this, concurrent.timed);
    if (!concurrent.beside) return alone;
    if (std::holds_alternative<CollectivePoint>(concurrent.timed)) {
      return alone * law.collective_slowdown;
    }
    if (std::holds_alternative<CopyPoint>(concurrent.timed)) return alone * law.copy_slowdown;
    const bool is_collective = std::holds_alternative<CollectivePoint>(*concurrent.beside);
    return alone * (is_collective ? law.beside_collective : law.compute_slowdown);
  }
};

/// Boost's distributions give the same numbers on every platform, the standard library's do not.
class FakeOperation final : public Operation {
 public:
  FakeOperation(Seconds time, const FakeLaw& law, std::mt19937_64& random)
      : time_(time), law_(law), random_(random) {}
  Sample repeat() override {
    boost::random::normal_distribution<double> noise(0.0, law_.noise);
    boost::random::uniform_01<double> share;
    const Seconds time = time_ * std::exp(noise(random_));
    const bool contaminated = share(random_) < law_.contaminated;
    return {contaminated ? 3.0 * time : time, contaminated};
  }

 private:
  Seconds time_;
  const FakeLaw& law_;
  std::mt19937_64& random_;
};

}  // namespace

Seconds fake_time(const FakeLaw& law, const Point& point) {
  return Seconds(std::visit(LawOfPoint{law}, point));
}

FakeBackend::FakeBackend(const FakeLaw& law, std::uint64_t seed, std::vector<int> ranks)
    : law_(law), random_(seed) {
  offer_.device = "fake device";
  offer_.accelerator = "fake";
  offer_.devices = ranks.empty() ? 1 : ranks.back();
  offer_.ranks_per_node = offer_.devices;
  offer_.memory_bytes = 8.0 * 1024 * 1024 * 1024;
  offer_.activation_bytes = 2.0;
  offer_.precisions = {Precision::bf16, Precision::fp8};
  offer_.gemm_batch = {64, 256, 1024, 4096};
  offer_.gemm_width = {512, 2048, 8192};
  offer_.most_gemm_flops = 1e12;
  offer_.block_scaled_fp8 = true;
  offer_.accumulated = offer_.experts = Precision::bf16;
  offer_.attention = attention_points(Precision::bf16, 16, 1024, 64);
  offer_.fused_attention = AttentionGrid{.query_heads = 16,
                                         .key_heads = {16, 4},
                                         .sequences = {1, 2},
                                         .lengths = {512, 2048, 8192},
                                         .head_sizes = {64, 128}};
  offer_.memory_kernels.assign(kMemoryKernels.begin(), kMemoryKernels.end());
  offer_.memory_kernels.insert(offer_.memory_kernels.end(), kDeviceMemoryKernels.begin(),
                               kDeviceMemoryKernels.end());
  offer_.most_elements = 1U << 26U;
  offer_.collective_implementations = {"ring"};
  offer_.ranks = std::move(ranks);
  offer_.most_message = 1U << 28U;
  offer_.link_bytes_per_s = law.link_bytes_per_s;
  offer_.launches = true;
  offer_.copies = {CopyKind::host_to_device, CopyKind::device_to_host, CopyKind::device_to_device};
  std::vector<ConcurrentPoint::Work> transfers = {CopyPoint{CopyKind::few_blocks, 1U << 26U},
                                                  CopyPoint{CopyKind::host_to_device, 1U << 26U}};
  if (!offer_.ranks.empty()) {
    transfers.emplace_back(
        CollectivePoint{CollectiveKind::all_reduce, "ring", 1U << 26U, offer_.ranks.back()});
  }
  offer_.concurrent =
      concurrent_points({GemmPoint{{4096, 2048, 8192}, Precision::bf16, GemmLayout::nn},
                         MemoryPoint{MemoryKernel::residual_add, 1U << 22U}},
                        transfers);
  offer_.provenance = {{"software", "a cost law with noise; no hardware was measured"}};
}

std::unique_ptr<Operation> FakeBackend::prepare(const Point& point) {
  const auto* attention = std::get_if<AttentionPoint>(&point);
  if (attention != nullptr && attention->shape.head_size > 256) {
    throw Refused("the fake device has no heads of more than 256");
  }
  return std::make_unique<FakeOperation>(fake_time(law_, point), law_, random_);
}

}  // namespace headway
