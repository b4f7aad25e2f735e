#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/programs/workload.h"

namespace headway {

/// A job that runs beside others.
struct JointPart {
  const Workload* workload = nullptr;
  int iterations = 1;  ///< one after the other, each rank on its own as far as its program lets it
};

/// Several jobs as one workload: they begin together and meet nowhere but on the links.
struct JointWorkload {
  Workload workload;
  std::vector<std::int32_t> first_group;  ///< of each job; one more at the end
  std::vector<int> iterations;            ///< of each job
};

/// Requires jobs whose NICs reach the same share of their rate.
[[nodiscard]] JointWorkload joint_workload(std::span<const JointPart> parts);

/// When the iterations of a job were over, from its operations' ends (`Timeline::operation_end`)
/// and where those of each group begin in them; seconds.
[[nodiscard]] std::vector<double> iteration_ends(const JointWorkload& joint, std::size_t job,
                                                 std::span<const std::int64_t> first_operation,
                                                 std::span<const double> operation_end);

}  // namespace headway
