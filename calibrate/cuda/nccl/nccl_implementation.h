#pragma once

#include <string>
#include <vector>

namespace headway {

/// What NCCL is told of the buffers: nothing, as most training does; each rank's own, which lets it
/// skip copies; or all ranks' as one window, which makes other algorithms possible.
enum class BufferRegistration { none, local, symmetric };

/// A way to run collectives by NCCL. Each is measured by itself, as they differ in algorithm.
struct NcclImplementation {
  std::string name;
  BufferRegistration registration = BufferRegistration::none;
  /// As many disjoint groups as there are ranks for run it at once, and share links.
  bool concurrent = false;
};

/// Those that the NCCL we were built with knows; the first stands for collectives in a profile.
[[nodiscard]] const std::vector<NcclImplementation>& nccl_implementations();
/// Requires one of their names.
[[nodiscard]] const NcclImplementation& nccl_implementation(const std::string& name);

}  // namespace headway
