#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/json_value.h"
#include "sim/launch/flag_table.h"

namespace headway {

/// Objects that start a job on Kubernetes.
enum class JobManifest { mpi_job, pytorch_job, train_job };
template <>
inline constexpr Word<JobManifest> kWords<JobManifest>[] = {
    {"mpijob", JobManifest::mpi_job},
    {"pytorchjob", JobManifest::pytorch_job},
    {"trainjob", JobManifest::train_job}};

/// A file that starts the job of a scenario, and what it could not say.
struct LaunchFile {
  std::string text;
  std::vector<std::string> remarks;  ///< a sentence each; the file has them too
};

/// What starts jobs whose software is the scenario's preset (`launched_by` of its framework);
/// nothing for software that none of these starts.
[[nodiscard]] std::optional<LaunchFramework> launch_framework_of(const JsonValue& scenario);

/// A shell script for every node. `scenario` is resolved, as results hold it.
[[nodiscard]] LaunchFile launch_script(const JsonValue& scenario, LaunchFramework framework);

/// Horovod is started by MPI, the others by torchrun: whether such an object does.
[[nodiscard]] bool can_start(JobManifest manifest, LaunchFramework framework);
/// What starts it where nobody says otherwise.
[[nodiscard]] JobManifest usual_manifest(LaunchFramework framework);

/// A manifest. Requires `can_start`.
[[nodiscard]] LaunchFile launch_manifest(const JsonValue& scenario, LaunchFramework framework,
                                         JobManifest manifest);

}  // namespace headway
