#include "sim/study/check_profile.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace headway {
namespace {

/// Parts that a profile may lack.
void check_optional_costs(const Profile& costs, const ReadStrategy& strategy,
                          const TransformerModel& model, Diagnostics& diagnostics) {
  if (model.mixture_of_experts && !costs.experts) {
    diagnostics.add(strategy.cursor.problem(
        fmt::format("profile {} does not know what experts cost", costs.name), "",
        "add \"experts\" to it; `headway explain profile.experts` tells the fields"));
  }
  if (strategy.strategy.cuda_graph != CudaGraph::none && !costs.cuda_graphs) {
    diagnostics.add(strategy.cursor.problem(
        fmt::format("profile {} does not know what CUDA graphs save", costs.name), "",
        "add \"cuda_graphs\" to it, or set strategy.cuda_graph to \"none\""));
  }
}

}  // namespace

void check_accelerator(const ReadProfile& profile, const NodeType& node_type,
                       Diagnostics& diagnostics) {
  const std::string& wanted = node_type.accelerator;
  const Profile& costs = *profile.profile;
  if (wanted != "any" && costs.accelerator != wanted) {
    const std::optional<JsonCursor> named = profile.cursor.member("accelerator");
    Diagnostic problem = (named ? *named : profile.cursor)
                             .problem("the profile is of another accelerator than the cluster has",
                                      fmt::format("the nodes have {}", wanted),
                                      fmt::format("name a profile of {} in \"profile\"; `headway "
                                                  "list profiles` shows them",
                                                  wanted));
    diagnostics.add(std::move(problem));
  }
}

void check_costs(const Profile& costs, const TransformerModel& model, const ReadStrategy& strategy,
                 Diagnostics& diagnostics) {
  const auto names_of = [](const auto& map) {
    std::string names;
    for (const auto& [name, value] : map) names += (names.empty() ? "" : ", ") + name;
    return names;
  };
  const auto family = costs.kernel_families.find(strategy.strategy.kernel_family);
  const std::string& release = strategy.strategy.software_release;
  if (family == costs.kernel_families.end()) {
    diagnostics.add(
        strategy.cursor.problem(fmt::format("profile {} has no kernel family \"{}\"", costs.name,
                                            strategy.strategy.kernel_family),
                                "", "use one of " + names_of(costs.kernel_families)));
  } else if (!release.empty() && !family->second.releases.contains(release)) {
    const std::string known = names_of(family->second.releases);
    diagnostics.add(strategy.cursor.problem(
        fmt::format("kernel family \"{}\" of profile {} has no release \"{}\"", family->first,
                    costs.name, release),
        "",
        known.empty() ? "leave strategy.software_release out"
                      : "leave it out, or use one of " + known));
  }
  check_optional_costs(costs, strategy, model, diagnostics);
  if (!supports(costs.device, strategy.strategy.precision)) {
    diagnostics.add(
        strategy.cursor.problem(fmt::format("{} does not compute in {}", costs.accelerator,
                                            precision_name(strategy.strategy.precision)),
                                "", "choose another strategy.precision or profile"));
  } else if (cast_bytes(costs.device, strategy.strategy.scaling) == nullptr) {
    diagnostics.add(strategy.cursor.problem(
        fmt::format("profile {} does not know what quantising to {} costs", costs.name,
                    recipe_name(strategy.strategy.scaling)),
        "", "choose another strategy.precision, or add it to the profile's cast_bytes_by_recipe"));
  }
  if (strategy.strategy.offload_layers > 0 && !costs.device.host_bandwidth) {
    diagnostics.add(strategy.cursor.problem(
        fmt::format("profile {} does not know how fast the link to the host is", costs.name), "",
        "leave strategy.offload_layers out, or add host_bandwidth_bytes_per_s to the profile's "
        "device"));
  }
}

}  // namespace headway
