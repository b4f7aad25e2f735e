#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/programs/store_traffic.h"
#include "sim/programs/workload.h"

namespace headway {

/// A job that runs beside others.
struct JointPart {
  const Workload* workload = nullptr;
  int iterations = 1;  ///< one after the other, each rank on its own as far as its program lets it
  const StoreReads* reads = nullptr;  ///< where it waits for samples
};

/// Several jobs as one workload: they begin together and meet nowhere but on the links and at the
/// store.
struct JointWorkload {
  Workload workload;
  /// The first rank group of each job, and one more entry at the end: behind it follow the groups
  /// that read for others.
  std::vector<std::int32_t> first_group;
  std::vector<int> iterations;  ///< of each job
};

/// Requires jobs whose NICs reach the same share of their rate. There is one store: of its plans
/// (`store_plan`) the ports are named here.
[[nodiscard]] JointWorkload joint_workload(std::span<const JointPart> parts);

/// When the iterations of a job were over, from its operations' ends (`Timeline::operation_end`)
/// and where those of each group begin in them; seconds.
[[nodiscard]] std::vector<double> iteration_ends(const JointWorkload& joint, std::size_t job,
                                                 std::span<const std::int64_t> first_operation,
                                                 std::span<const double> operation_end);

}  // namespace headway
