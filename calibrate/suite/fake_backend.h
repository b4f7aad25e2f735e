#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "calibrate/suite/backend.h"

namespace headway {

/// A device that does not exist: times follow a known law, with known noise. It shows that
/// measuring, fitting and writing give back what was put in, without any hardware.
struct FakeLaw {
  double flops_per_s = 1e14;            ///< of products with a long inner dimension
  double inner_half = 128.0;            ///< t = flops / rate * (1 + inner_half / k) + gemm_overhead
  double gemm_overhead = 4e-6;          ///< seconds
  double batched_efficiency = 0.6;      ///< of that rate, of products in batches
  double block_scaled_rate = 0.9;       ///< of fp8's, which is twice that rate
  double accumulation_bytes = 6.0;      ///< a weight, of gradients that are added up
  double grouped_efficiency = 0.8;      ///< of that rate, of products of many experts
  double grouped_half_rows = 50.0;
  double attention_flops_per_s = 7e13;  ///< fused, long sequences, heads of 128
  double attention_sequence_half = 300.0;
  double attention_head_exponent = 0.4;
  double attention_backward = 0.75;  ///< of that rate
  double memory_latency = 3e-6;
  double cache_bytes = 1U << 22U;  ///< passes up to this traffic run at the cache's rate
  double cache_bytes_per_s = 4e12;
  double memory_bytes_per_s = 1e12;
  double step_latency = 5e-6;  ///< of one step of a collective
  double link_bytes_per_s = 1e10;
  double eager_bytes = 1U << 16U;  ///< larger messages pay `rendezvous_latency` once more
  double rendezvous_latency = 40e-6;
  double compute_slowdown = 1.2;     ///< of products and passes beside a copy
  double copy_slowdown = 1.5;        ///< of a copy beside one of them
  double beside_collective = 1.25;   ///< of products and passes beside a collective
  double collective_slowdown = 1.6;  ///< of a collective beside one of them
  double noise = 0.05;               ///< sigma of the logarithm of a time
  double contaminated = 0.01;  ///< share of samples that take three times as long, and are known to
};

/// The law's time, without noise.
[[nodiscard]] Seconds fake_time(const FakeLaw& law, const Point& point);

class FakeBackend final : public Backend {
 public:
  FakeBackend(const FakeLaw& law, std::uint64_t seed, std::vector<int> ranks);
  [[nodiscard]] const Offer& offer() const override { return offer_; }
  /// Refuses attention with heads of more than 256 elements.
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override;

 private:
  FakeLaw law_;
  std::mt19937_64 random_;
  Offer offer_;
};

}  // namespace headway
