#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/measure/stop_rule.h"
#include "calibrate/suite/point.h"
#include "sim/base/diagnostic.h"

namespace headway {

/// Fused attention that is measured: every combination, in both passes, causal and not.
struct AttentionGrid {
  double query_heads = 32;
  std::vector<double> key_heads;
  std::vector<double> sequences;
  std::vector<double> lengths;
  std::vector<double> head_sizes;
};

/// What a backend measures on this machine.
struct Offer {
  std::string device;           ///< "AMD EPYC, one core"
  std::string accelerator;      ///< what topologies call it: "cpu-core"
  int devices = 1;              ///< that take part
  double memory_bytes = 0.0;    ///< of one device, usable
  double activation_bytes = 4;  ///< per element, of what the memory-bound kernels work on
  int multiprocessors = 1;
  /// Where the hardware tells them; a profile takes the fastest measurement otherwise.
  std::map<Precision, double> peak_flops = {};
  double memory_bytes_per_s = 0.0;
  std::string peak_source = "multiprocessors, clocks and bus width that the driver reports";

  std::vector<Precision> precisions;
  std::vector<double> gemm_batch;  ///< sizes of the dimension that holds the samples
  std::vector<double> gemm_width;  ///< sizes of the two that hold features
  double most_gemm_flops = 0.0;    ///< larger products, and attention, take too long

  /// Which of the products that training has besides plain ones (training_points.h) there are.
  bool block_scaled_fp8 = false;
  std::optional<Precision> accumulated;  ///< of gradients that are added up in fp32
  std::optional<Precision> experts;      ///< of products of several experts

  std::vector<BatchedGemmPoint> attention;  ///< products of heads
  /// Nothing: fused attention cannot be measured here, for the reason of `no_fused_attention`.
  std::optional<AttentionGrid> fused_attention = {};
  std::string no_fused_attention;

  std::vector<MemoryKernel> memory_kernels;
  std::size_t least_elements = 1U << 12U;
  std::size_t most_elements = 1U << 23U;

  /// The first one stands for collectives in the profile. Empty: none can be measured here, for
  /// the reason of `no_collectives`.
  std::vector<std::string> collective_implementations;
  std::string no_collectives;
  std::vector<int> ranks;  ///< group sizes
  /// The most ranks of implementations that have no larger groups.
  std::map<std::string, int> most_ranks = {};
  std::size_t least_message = 1024;
  std::size_t most_message = 1U << 24U;
  /// Groups of at most so many ranks stay on one node (scale_up), larger ones cross the network.
  int ranks_per_node = 1;
  double node_link_bytes_per_s = 0.0;  ///< each way of a device inside its node, else 0
  double link_bytes_per_s = 0.0;       ///< rate of a rank's link where it is known, else 0
  double link_burst_bytes = 0.0;       ///< that it lets through at once after it stood idle

  /// How long a product is repeated to see at what clock the device lasts; 0: its clock is known.
  Seconds sustained = {};
  bool launches = false;
  std::vector<CopyKind> copies;
  std::vector<ConcurrentPoint> concurrent;

  std::map<std::string, std::string> provenance;  ///< libraries, drivers, clocks
};

/// A point that cannot be measured on this machine, while others can: a library has no kernel for
/// it, or its operands do not fit in the memory.
class Refused : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// One operation, ready to be run again and again. Where ranks work together, all of them repeat it
/// and see the same sample, the slowest rank's, so that they stop together.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual Sample repeat() = 0;
};

/// How a device runs just now.
struct DeviceState {
  double clock_hz = 0.0;               ///< 0 where nobody tells
  std::set<std::string> throttled_by;  ///< why the clock is below what it could be
  double watts = 0.0;                  ///< 0 where nobody tells
};

/// Hardware, or something that behaves like it.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual const Offer& offer() const = 0;
  /// Nothing on a rank that does not take part in the point. `point` is one that was offered.
  /// Throws Refused, which the operation may do too, where it cannot be run.
  [[nodiscard]] virtual std::unique_ptr<Operation> prepare(const Point& point) = 0;
  /// Right after a point was measured.
  [[nodiscard]] virtual DeviceState state() const { return {}; }
};

}  // namespace headway
