#include "sim/scenario/check_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/costs/nccl_constants.h"
#include "sim/jobs/read_strategy.h"
#include "sim/programs/flows/nccl_costs.h"
#include "sim/programs/flows/nccl_doubts.h"

namespace headway {
namespace {

/// The precisions that the profile has a peak of, as scenarios spell them.
std::vector<std::string_view> precisions_of(const DeviceCosts& device) {
  std::vector<std::string_view> names;
  for (const auto& [precision, peak] : device.peak_flops) names.push_back(word_of(precision));
  return names;
}

template <class Value>
std::string names_of(const std::map<std::string, Value>& map) {
  std::string names;
  for (const auto& [name, value] : map) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void check_software(const Profile& costs, const ReadStrategy& strategy, Diagnostics& diagnostics) {
  const auto& families = costs.kernel_families;
  const auto family = families.find(strategy.strategy.kernel_family);
  const std::string& release = strategy.strategy.software_release;
  if (family == families.end()) {
    diagnostics.add(strategy.problem(
        "kernel_family",
        fmt::format("profile {} has no kernel family \"{}\"", costs.name,
                    strategy.strategy.kernel_family),
        "",
        families.size() == 1 ? fmt::format("take the one it has: --set /strategy/kernel_family={}",
                                           families.begin()->first)
                             : "strategy.kernel_family takes one of " + names_of(families)));
  } else if (!release.empty() && !family->second.releases.contains(release)) {
    const std::string known = names_of(family->second.releases);
    Diagnostic unknown = strategy.problem(
        "software_release",
        fmt::format("kernel family \"{}\" of profile {} has no release \"{}\": it counts as one "
                    "like any other",
                    family->first, costs.name, release),
        "",
        known.empty() ? "leave strategy.software_release out"
                      : "leave it out, or use one of " + known);
    unknown.severity = Severity::warning;
    diagnostics.add(std::move(unknown));
  }
}

void check_attention_kernel(const Profile& costs, const ReadStrategy& strategy,
                            Diagnostics& diagnostics) {
  const std::string& kernel = strategy.strategy.attention_kernel;
  const auto& kernels = costs.device.attention_kernels;
  if (kernel.empty() || kernel == kFastestAttention || kernels.contains(kernel)) return;
  std::string known(kFastestAttention);
  if (!kernels.empty()) known += ", " + names_of(kernels);
  diagnostics.add(
      strategy.problem("attention_kernel",
                       fmt::format("profile {} has no attention kernel \"{}\"", costs.name, kernel),
                       "", "use one of " + known));
}

void check_precision(const Profile& costs, const ReadStrategy& strategy, Diagnostics& diagnostics) {
  if (!supports(costs.device, strategy.strategy.precision)) {
    diagnostics.add(
        strategy.problem("precision",
                         fmt::format("profile {} has no peak of {} in {}", costs.name,
                                     costs.accelerator, word_of(strategy.strategy.precision)),
                         fmt::format("it has {}", join_words(precisions_of(costs.device), ", ")),
                         "choose one of these as strategy.precision, or add what a data "
                         "sheet says to the profile's peak_flops_per_s"));
  } else if (cast_bytes(costs.device, strategy.strategy.scaling) == nullptr) {
    diagnostics.add(strategy.problem(
        "precision",
        fmt::format("profile {} does not know what quantising to {} costs", costs.name,
                    word_of(strategy.strategy.scaling)),
        "", "choose another strategy.precision, or add it to the profile's cast_bytes_by_recipe"));
  }
}

/// Parts that a profile may lack.
void check_optional_costs(const Profile& costs, const ReadStrategy& strategy, const Model& model,
                          Diagnostics& diagnostics) {
  if (model.routing() != nullptr && !costs.experts) {
    diagnostics.add(strategy.cursor.problem(
        fmt::format("profile {} does not know what experts cost", costs.name), "",
        "add \"experts\" to it; `headway explain profile.experts` tells the fields"));
  }
  if (strategy.strategy.cuda_graph != CudaGraph::none && !costs.cuda_graphs) {
    diagnostics.add(strategy.problem(
        "cuda_graph", fmt::format("profile {} does not know what CUDA graphs save", costs.name), "",
        "add \"cuda_graphs\" to it, or set strategy.cuda_graph to \"none\""));
  }
}

/// What the host does for the accelerators.
void check_host_costs(const Profile& costs, const ReadStrategy& strategy,
                      Diagnostics& diagnostics) {
  const bool offloads_optimizer = strategy.strategy.optimizer_offload > 0.0;
  const std::string_view field = offloads_optimizer ? "optimizer_offload" : "offload_layers";
  const auto require = [&](const std::optional<Estimate>& cost, std::string_view what,
                           std::string_view key) {
    if (cost) return;
    diagnostics.add(strategy.problem(
        field, fmt::format("profile {} does not know how fast {} is", costs.name, what), "",
        fmt::format("leave strategy.{} out, or add {} to the profile's device", field, key)));
  };
  if (offloads_optimizer || strategy.strategy.offload_layers > 0) {
    require(costs.device.host_bandwidth, "the link to the host", "host_bandwidth_bytes_per_s");
  }
  if (strategy.strategy.synchronisation->servers() != nullptr &&
      !costs.device.host_memory_bandwidth) {
    diagnostics.add(strategy.problem(
        "synchronisation",
        fmt::format("profile {} does not know how fast the memory of servers is", costs.name), "",
        "add host_memory_bandwidth_bytes_per_s to the profile's device"));
  }
  if (offloads_optimizer) {
    require(costs.device.host_memory_bandwidth, "the host's memory",
            "host_memory_bandwidth_bytes_per_s");
  }
}

}  // namespace

void check_costs(const Profile& costs, const Model& model, const ReadStrategy& strategy,
                 Diagnostics& diagnostics) {
  check_software(costs, strategy, diagnostics);
  check_attention_kernel(costs, strategy, diagnostics);
  check_optional_costs(costs, strategy, model, diagnostics);
  check_precision(costs, strategy, diagnostics);
  if (strategy.strategy.collective_library == CollectiveLibrary::nccl &&
      nccl_node_costs(costs.accelerator) == nullptr) {
    diagnostics.add(strategy.problem(
        "collective_library", fmt::format("no costs of NCCL are known on {}", costs.accelerator),
        "", "set strategy.collective_library to \"profile\""));
  }
  check_host_costs(costs, strategy, diagnostics);
}

void check_transport(const ReadStrategy& strategy, const Cluster& cluster,
                     Diagnostics& diagnostics) {
  if (strategy.strategy.collective_library != CollectiveLibrary::nccl) return;
  const TransportKind transport = cluster.node_type.transport.kind;
  if (has_nccl_doubts(transport)) {
    Diagnostic doubt = strategy.problem(
        "collective_library",
        fmt::format("published tables of NCCL over {} contradict each other for some sizes of "
                    "messages: its model's times are taken, and may be off by several times",
                    word_of(transport)),
        "",
        "`headway collective TOPOLOGY --library nccl` tells which; a profile that was measured "
        "there, with strategy.collective_library \"profile\", tells better");
    doubt.severity = Severity::warning;
    diagnostics.add(std::move(doubt));
  }
  if (knows_nccl_over(transport)) return;
  diagnostics.add(strategy.problem("collective_library",
                                   "nothing is known of NCCL over the transport of this fabric", "",
                                   "set strategy.collective_library to \"profile\""));
}

void check_kinds(const ReadStrategy& strategy, const Cluster& cluster, Diagnostics& diagnostics) {
  if (cluster.kinds() == 1 || strategy.strategy.synchronisation->servers() == nullptr) return;
  diagnostics.add(strategy.problem("synchronisation",
                                   "parameter servers are modelled on nodes of one kind only",
                                   fmt::format("the nodes have {}", cluster.accelerator_names()),
                                   "set synchronisation.scheme to \"all_reduce\""));
}

void check_server_hosts(const ReadStrategy& strategy, const Cluster& cluster, int accelerators,
                        Diagnostics& diagnostics) {
  const ServerPlan* by = strategy.strategy.synchronisation->servers();
  if (by == nullptr || by->hosts != ServerHosts::apart) return;
  const int of_node = cluster.node_type.accelerators;
  const int left = cluster.nodes - (accelerators + of_node - 1) / of_node;
  if (by->servers <= left) return;
  diagnostics.add(strategy.problem(
      "synchronisation", "servers apart need a node each behind those of the job",
      fmt::format("{}, {}", counted(by->servers, "server"), counted(left, "such node")),
      "set cluster.job_nodes to what workers take, raise cluster.nodes, or "
      "set hosts to \"beside\""));
}

void check_domains(const ReadStrategy& strategy, const Cluster& cluster,
                   const std::vector<ParallelDimension>& order, Diagnostics& diagnostics) {
  const Strategy& split = strategy.strategy;
  const int domain = cluster.scale_up_domain;
  const double ranks = static_cast<double>(split.tensor_parallel) * split.context_parallel *
                       split.data_parallel * split.pipeline_parallel;
  if (!cluster.domain_of_node.empty() || ranks <= domain) return;
  // Ranks of these groups are neighbours where tensor, context and data come first, as they mostly
  // do.
  constexpr ParallelDimension kInside[] = {ParallelDimension::tensor, ParallelDimension::context,
                                           ParallelDimension::data};
  if (order.size() < std::size(kInside) ||
      !std::ranges::equal(kInside, std::span(order).first(std::size(kInside)))) {
    return;
  }
  const std::pair<const char*, double> groups[] = {
      {"tensor_parallel", split.tensor_parallel},
      {"context_parallel", split.context_parallel > 1
                               ? static_cast<double>(split.tensor_parallel) * split.context_parallel
                               : 1.0},
      {"expert_parallel", split.expert_parallel > 1 ? static_cast<double>(split.expert_parallel) *
                                                          split.expert_tensor_parallel
                                                    : 1.0}};
  for (const auto& [field, ranks_of_group] : groups) {
    if (ranks_of_group > domain) continue;
    const int size = static_cast<int>(ranks_of_group);
    if (domain % size == 0) continue;
    const int of_node = cluster.node_type.accelerators;
    Diagnostic warning = strategy.problem(
        field,
        fmt::format("some groups of {} ranks lie in two scale-up domains, and exchange over NICs",
                    size),
        fmt::format("domains of {} accelerators are filled one after the other", domain),
        domain > of_node
            ? fmt::format("schedulers give jobs an equal part of every domain: a node type whose "
                          "scale_up.domain is {}, with as many nodes a unit, as that of the "
                          "topology gb200_nvl72_16_trays",
                          domain / size * size)
            : "choose a degree that divides them");
    warning.severity = Severity::warning;
    diagnostics.add(std::move(warning));
  }
}

}  // namespace headway
