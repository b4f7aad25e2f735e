#include <fmt/format.h>

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/launch/launch_job.h"

namespace headway {
namespace {

std::string indented(const std::string& text, std::size_t by) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) result += std::string(by, ' ') + text.substr(begin, end - begin);
    result += "\n";
    begin = end + 1;
  }
  return result;
}

/// A pod's container that runs the commands on all accelerators of a node.
std::string container(std::string_view name, const LaunchJob& job, const std::string& commands,
                      std::size_t indent) {
  return indented(fmt::format("- name: {}\n"
                              "  image: training  # with the framework and the training script\n"
                              "  command: [\"bash\", \"-euo\", \"pipefail\", \"-c\"]\n"
                              "  args:\n"
                              "  - |\n{}"
                              "  resources:\n"
                              "    limits:\n"
                              "      nvidia.com/gpu: {}\n",
                              name, indented(commands, 4), job.accelerators),
                  indent);
}

std::string pytorch_job(const LaunchJob& job, const std::string& commands) {
  const auto replicas = [&](const char* role, std::int64_t count) {
    return fmt::format(
        "    {}:\n      replicas: {}\n      restartPolicy: OnFailure\n      template:\n"
        "        spec:\n          containers:\n{}",
        role, count, container("pytorch", job, commands, 10));
  };
  std::string text = fmt::format(
      "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata:\n  name: headway\nspec:\n"
      "  nprocPerNode: \"{}\"\n  pytorchReplicaSpecs:\n{}",
      job.accelerators, replicas("Master", 1));
  if (job.nodes > 1) text += replicas("Worker", job.nodes - 1);
  return text;
}

std::string train_job(const LaunchJob& job, const std::string& commands) {
  return fmt::format(
      "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata:\n  name: headway\n"
      "spec:\n  runtimeRef:\n    apiGroup: trainer.kubeflow.org\n    kind: ClusterTrainingRuntime\n"
      "    name: torch-distributed\n  trainer:\n    numNodes: {}\n    numProcPerNode: {}\n"
      "    image: training  # with the framework and the training script\n"
      "    command: [\"bash\", \"-euo\", \"pipefail\", \"-c\"]\n    args:\n    - |\n{}"
      "    resourcesPerNode:\n      limits:\n        nvidia.com/gpu: {}\n",
      job.nodes, job.accelerators, indented(commands, 6), job.accelerators);
}

/// Horovod's settings as its processes read them, where mpirun starts them.
std::string mpi_environment(const LaunchJob& job) {
  std::string text;
  const auto add = [&](std::string_view variable, const std::string& value) {
    text += fmt::format("            - -x\n            - {}={}\n", variable, value);
  };
  for (const std::string& setting : job.flags.settings) {
    const std::size_t space = setting.find(' ');
    const std::string flag = setting.substr(0, space);
    const std::string value = space == std::string::npos ? "" : setting.substr(space + 1);
    if (flag == "--fusion-threshold-mb") {
      add("HOROVOD_FUSION_THRESHOLD", std::to_string(std::stoll(value) * 1'048'576));
    } else if (flag == "--cycle-time-ms") {
      add("HOROVOD_CYCLE_TIME", value);
    }
  }
  return text;
}

std::string mpi_job(const LaunchJob& job) {
  return fmt::format(
      "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: headway\nspec:\n"
      "  slotsPerWorker: {}\n  runPolicy:\n    cleanPodPolicy: Running\n  mpiReplicaSpecs:\n"
      "    Launcher:\n      replicas: 1\n      template:\n        spec:\n          containers:\n"
      "          - name: launcher\n"
      "            image: training  # with Horovod and the training script\n"
      "            command:\n            - mpirun\n            - --allow-run-as-root\n"
      "            - -np\n            - \"{}\"\n            - -bind-to\n            - none\n"
      "            - -map-by\n            - slot\n{}            - python\n"
      "            - train.py  # the training script\n"
      "    Worker:\n      replicas: {}\n      template:\n        spec:\n          containers:\n"
      "          - name: worker\n"
      "            image: training  # with Horovod and the training script\n"
      "            resources:\n              limits:\n                nvidia.com/gpu: {}\n",
      job.accelerators, job.ranks(), mpi_environment(job), job.nodes, job.accelerators);
}

}  // namespace

bool can_start(JobManifest manifest, LaunchFramework framework) {
  return (manifest == JobManifest::mpi_job) == (framework == LaunchFramework::horovod);
}

JobManifest usual_manifest(LaunchFramework framework) {
  return framework == LaunchFramework::horovod ? JobManifest::mpi_job : JobManifest::pytorch_job;
}

LaunchFile launch_manifest(const JsonValue& scenario, LaunchFramework framework,
                           JobManifest manifest) {
  HEADWAY_CHECK(can_start(manifest, framework), "a manifest that does not start the framework");
  LaunchJob job = launch_job(scenario, framework);
  std::string text;
  for (const std::string& comment : launch_comments(job, framework)) text += "# " + comment + "\n";
  switch (manifest) {
    case JobManifest::mpi_job:
      text += mpi_job(job);
      break;
    case JobManifest::pytorch_job:
      text += pytorch_job(job, start_commands(scenario, job, framework));
      break;
    case JobManifest::train_job:
      text += train_job(job, start_commands(scenario, job, framework));
      break;
  }
  return {std::move(text), std::move(job.remarks)};
}

}  // namespace headway
