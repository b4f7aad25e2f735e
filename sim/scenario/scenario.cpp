#include "sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"
#include "sim/jobs/read_strategy.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/read_model.h"
#include "sim/network/read_topology.h"
#include "sim/scenario/candidates.h"
#include "sim/scenario/check_profile.h"
#include "sim/scenario/read_anchors.h"
#include "sim/scenario/read_cost.h"
#include "sim/scenario/read_jobs.h"
#include "sim/scenario/read_perturbations.h"
#include "sim/scenario/read_reliability.h"
#include "sim/scenario/resolved_scenario.h"

namespace headway {
namespace {

constexpr int kMostNodes = 1'000'000;

/// Of a mixture of experts, what moves its iterations most.
constexpr std::array<std::string_view, 3> kDecidedBySoftware = {
    "expert_dispatch", "overlap_expert_exchange", "cuda_graph"};

constexpr std::array<std::pair<std::string_view, ParallelDimension>, 4> kDimensions{{
    {"tensor", ParallelDimension::tensor},
    {"context", ParallelDimension::context},
    {"data", ParallelDimension::data},
    {"pipeline", ParallelDimension::pipeline},
}};
struct ReadCluster {
  ReadTopology topology;
  std::vector<ParallelDimension> order;
  std::optional<int> job_nodes;  ///< all, if nobody says
  nlohmann::json resolved;
};

std::vector<ParallelDimension> read_order(ObjectReader& reader) {
  std::vector<ParallelDimension> order;
  for (const JsonCursor& element : reader.elements("rank_order")) {
    const auto* const known = std::ranges::find_if(
        kDimensions, [&](const auto& word) { return element.text() == word.first; });
    if (known == kDimensions.end()) {
      reader.diagnostics().add(
          element.problem("rank_order names the parallel dimensions, innermost "
                          "first",
                          "not one of them", "use tensor, context, data and pipeline"));
    } else if (std::ranges::find(order, known->second) != order.end()) {
      reader.diagnostics().add(
          element.problem("rank_order names a dimension twice", "named before"));
    } else {
      order.push_back(known->second);
    }
  }
  if (!reader.has("rank_order")) return Placement{}.order;
  if (order.size() != kDimensions.size() && !reader.diagnostics().has_errors()) {
    reader.report("rank_order", "rank_order has to name all four dimensions", "",
                  R"(the default is ["tensor", "context", "data", "pipeline"])");
  }
  return order;
}

nlohmann::json order_json(const std::vector<ParallelDimension>& order) {
  nlohmann::json names = nlohmann::json::array();
  for (const ParallelDimension dimension : order) {
    names.push_back(
        std::string(std::ranges::find(kDimensions, dimension,
                                      &std::pair<std::string_view, ParallelDimension>::second)
                        ->first));
  }
  return names;
}

std::optional<ReadTopology> read_topology_once(const JsonCursor& part, std::optional<int> nodes,
                                               InputFiles& files) {
  return files.once<ReadTopology>(part, nodes ? std::to_string(*nodes) : "",
                                  [&] { return read_topology(part, files, nodes); });
}

/// "cluster" is a topology, or an object with one and what the job takes of it.
std::optional<ReadCluster> read_cluster(const JsonCursor& part, InputFiles& files) {
  const bool has_details = part.is_object() && part.member("topology").has_value();
  if (!has_details) {
    auto topology = read_topology_once(part, std::nullopt, files);
    if (!topology) return std::nullopt;
    const std::vector<ParallelDimension> order = Placement{}.order;
    nlohmann::json resolved = {{"rank_order", order_json(order)}};
    resolved["topology"] = topology->resolved;
    return ReadCluster{std::move(*topology), order, std::nullopt, std::move(resolved)};
  }
  ObjectReader reader(part, files.diagnostics());
  const std::optional<JsonCursor> topology_part = reader.required_part("topology");
  std::optional<int> nodes;
  if (reader.has("nodes")) {
    nodes = static_cast<int>(reader.integer("nodes", between(1, kMostNodes)));
  }
  std::optional<int> job_nodes;
  std::vector<ParallelDimension> order = read_order(reader);
  std::optional<ReadTopology> topology;
  if (topology_part) topology = read_topology_once(*topology_part, nodes, files);
  if (reader.has("job_nodes")) {
    const double most = topology ? topology->cluster->nodes : kMostNodes;
    job_nodes = static_cast<int>(reader.integer("job_nodes", between(1.0, most)));
  }
  reader.resolve("rank_order", order_json(order));
  if (topology) reader.resolve("topology", topology->resolved);
  nlohmann::json resolved = reader.finish();
  if (!topology) return std::nullopt;
  return ReadCluster{std::move(*topology), std::move(order), job_nodes, std::move(resolved)};
}

/// A configuration of Hugging Face does not say what sequences its model is trained on.
void warn_of_sequences(const ReadModel& model, const ReadStrategy& strategy,
                       Diagnostics& diagnostics) {
  const bool is_theirs =
      is_huggingface_config(model.cursor) || model.cursor.member("huggingface").has_value();
  if (!is_theirs || strategy.cursor.member("sequence_length")) return;
  Diagnostic warning = strategy.cursor.problem(
      fmt::format("sequences are taken to be {} tokens long",
                  grouped_digits(strategy.strategy.sequence_length)),
      "", "the configuration only says how far the model reaches: give \"sequence_length\"");
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

nlohmann::json file_list(const InputFiles& files) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::filesystem::path& path : files.read_paths()) {
    list.push_back({{"path", path.string()}, {"fingerprint", files.fingerprint(path)}});
  }
  return list;
}

}  // namespace

KindProfiles Scenario::profiles() const {
  ProfileList all{profile};
  all.insert(all.end(), other_profiles.begin(), other_profiles.end());
  return kind_profiles(all);
}

Bytes Scenario::least_memory() const {
  return Bytes(profiles().smallest(
      [](const Profile& of_kind) { return of_kind.device.memory_bytes.value; }));
}

void Scenario::change_profiles(const std::function<void(Profile&)>& change) {
  const auto changed = [&](const Profile& original) {
    auto copy = std::make_shared<Profile>(original);
    change(*copy);
    return copy;
  };
  profile = changed(*profile);
  for (std::shared_ptr<const Profile>& other : other_profiles) other = changed(*other);
}

Placement placement_of(const Strategy& strategy, std::vector<ParallelDimension> order) {
  Placement placement;
  placement.order = std::move(order);
  placement.tensor = strategy.tensor_parallel;
  placement.context = strategy.context_parallel;
  placement.data = strategy.data_parallel;
  placement.pipeline = strategy.pipeline_parallel;
  return placement;
}

namespace {

std::optional<Scenario> read_at(const JsonCursor& root, const std::string& path,
                                const ScenarioOptions& options, InputFiles& files) {
  Diagnostics& diagnostics = files.diagnostics();
  ObjectReader reader(root, diagnostics);
  if (is_huggingface_config(root)) {
    diagnostics.add(
        root.problem("this is a Hugging Face configuration, not a scenario", "",
                     R"(a scenario names it: "model": {"huggingface": "config.json"})"));
    return std::nullopt;
  }
  if (!read_schema(reader, "headway/scenario/1")) return std::nullopt;
  Scenario scenario;
  scenario.name = reader.text("name", path);
  reader.text("description", "");
  if (reader.has("goal")) reader.text("goal");
  check_choices(reader);

  std::optional<ReadModel> model;
  if (const auto part = reader.required_part("model")) {
    model = files.once<ReadModel>(*part, "", [&] { return read_model(*part, files); });
  }
  std::optional<ReadCluster> cluster;
  if (const auto part = reader.required_part("cluster")) cluster = read_cluster(*part, files);
  const std::optional<ProfileList> profiles =
      read_profiles(reader, cluster ? cluster->topology.cluster.get() : nullptr, files);
  std::optional<int> accelerators;
  if (cluster) {
    const Cluster& whole = *cluster->topology.cluster;
    accelerators = cluster->job_nodes.value_or(whole.nodes) * whole.node_type.accelerators;
  }
  std::optional<ReadStrategy> strategy;
  const std::optional<JsonCursor> strategy_part = reader.required_part("strategy");
  if (strategy_part && model) {
    const std::string given =
        fmt::format("{}\n{}", accelerators.value_or(0), model->resolved.text());
    strategy = files.once<ReadStrategy>(*strategy_part, given, [&] {
      return read_strategy(*strategy_part, *model, accelerators, files);
    });
  }
  if (model && strategy) warn_of_sequences(*model, *strategy, diagnostics);
  if (cluster && strategy) {
    check_server_hosts(*strategy, *cluster->topology.cluster, *accelerators, diagnostics);
    check_transport(*strategy, *cluster->topology.cluster, diagnostics);
    check_kinds(*strategy, *cluster->topology.cluster, diagnostics);
  }
  const auto check = [&](const Model& trained, const ReadStrategy& split) {
    for (const auto& profile : *profiles) check_costs(*profile, trained, split, diagnostics);
  };
  if (profiles && cluster && strategy) check(model->model, *strategy);
  scenario.perturbation = read_perturbations(reader, profiles ? profiles->front().get() : nullptr,
                                             cluster ? cluster->topology.cluster.get() : nullptr);
  scenario.run = read_run(reader, options.seed, options.replicas);
  scenario.perturbation.seed = static_cast<std::uint64_t>(scenario.run.seed);
  const bool needs_changes =
      !scenario.perturbation.link_episodes.empty() || !scenario.perturbation.background.empty();
  if (needs_changes && scenario.run.engine.flows == FlowEngine::simgrid) {
    reader.report("run", "SimGrid's flows do not know links that change or traffic of others", "",
                  "leave perturbations.slow_links and background_traffic out, or run.flows");
  }
  scenario.anchors = read_anchors(
      reader, cluster ? cluster->topology.cluster.get() : nullptr, files,
      [&](const JsonCursor& measured) { return read_at(measured, path, options, files); });

  std::optional<StoreContext> store;
  if (model && cluster && profiles && strategy) {
    scenario.reliability = read_reliability(reader,
                                            {.model = model->model,
                                             .strategy = strategy->strategy,
                                             .cluster = *cluster->topology.cluster,
                                             .profile = *profiles->front(),
                                             .train_tokens = options.train_tokens},
                                            files);
    const Cluster& whole = *cluster->topology.cluster;
    scenario.jobs = read_jobs(
        reader,
        {.model = *model,
         .nodes = (*accelerators + whole.node_type.accelerators - 1) / whole.node_type.accelerators,
         .cluster = whole,
         .has_store = reader.has("data_loading"),
         .check_costs = check},
        files);
    const Strategy& own = strategy->strategy;
    const bool is_served = own.synchronisation->servers() != nullptr;
    bool has_servers = is_served;
    int taken = (*accelerators + whole.node_type.accelerators - 1) / whole.node_type.accelerators;
    for (const NeighbourJob& job : scenario.jobs) {
      for (const NeighbourJob::Size& size : job.sizes) {
        has_servers = has_servers || size.strategy.synchronisation->servers() != nullptr;
        taken = std::max(taken, job.first_node + size.nodes);
      }
    }
    store = {.free_nodes = whole.nodes - taken,
             .has_parameter_servers = is_served,
             .checkpoints_beside_steps =
                 scenario.reliability ? scenario.reliability->checkpoint.persisting > Seconds(0.0)
                                      : reader.has("reliability")};
    if (has_servers && !scenario.jobs.empty()) {
      reader.report("jobs", "jobs on one fabric are modelled without parameter servers only", "",
                    "set synchronisation.scheme to \"all_reduce\" in all of them");
    }
  } else {
    static_cast<void>(reader.part("reliability"));
    static_cast<void>(reader.part("jobs"));
  }
  scenario.input = read_input(reader, store);
  scenario.statistics = read_statistics(reader);
  if (scenario.statistics && scenario.reliability && scenario.reliability->train_tokens) {
    reader.report("statistics",
                  "statistics and reliability.train_tokens both say how long the run is", "",
                  "give reliability a duration: its goodput then stretches the run");
  }
  if (const auto part = reader.part("cost")) {
    CostContext context{.cluster = cluster ? cluster->topology.cluster.get() : nullptr,
                        .has_target = scenario.statistics.has_value()};
    if (scenario.reliability) {
      context.train_tokens = scenario.reliability->train_tokens;
      context.spare_nodes = scenario.reliability->spare_nodes;
      context.has_spot_nodes = scenario.reliability->spot.has_value();
    } else if (reader.has("reliability")) {
      context.train_tokens = std::numeric_limits<double>::infinity();
    }
    reader.resolve("cost", read_cost(*part, context, diagnostics));
  }

  if (model) reader.resolve("model", model->resolved);
  if (cluster) reader.resolve("cluster", std::move(cluster->resolved));
  if (strategy) reader.resolve("strategy", strategy->resolved);
  nlohmann::json resolved = reader.finish();
  erase_choices(resolved);
  scenario.resolved = std::move(resolved);
  if (diagnostics.has_errors()) return std::nullopt;
  HEADWAY_CHECK(model && cluster && profiles && strategy, "a part that is not read is an error");

  scenario.model = model->model;
  scenario.model_has_own_fields = model->cursor.member("hidden").has_value();
  scenario.cluster = cluster->topology.cluster;
  scenario.profile = profiles->front();
  scenario.other_profiles.assign(profiles->begin() + 1, profiles->end());
  scenario.strategy = strategy->strategy;
  scenario.leaves_experts_open =
      model->model.routing() != nullptr &&
      std::ranges::none_of(kDecidedBySoftware, [&](std::string_view field) {
        return strategy->cursor.member(field).has_value();
      });
  scenario.placement = placement_of(scenario.strategy, cluster->order);
  return scenario;
}

/// The scenario, unless something is wrong with it or with a file that it names.
Scenario checked(std::optional<Scenario> scenario, const JsonCursor& root, InputFiles& files) {
  files.report_unused_overrides();
  files.diagnostics().throw_if_errors();
  HEADWAY_CHECK(scenario.has_value(), "a scenario without errors is read");
  scenario->given = root.value();
  scenario->files = file_list(files);
  return std::move(*scenario);
}

}  // namespace

Scenario read_scenario(const std::string& path, const ScenarioOptions& options,
                       Diagnostics& diagnostics) {
  std::vector<Override> overrides = options.overrides;
  if (options.profile) {
    overrides.push_back({"/profile", compact_json(nlohmann::json(*options.profile))});
  }
  overrides = with_candidate(path, std::move(overrides), options.memory, diagnostics);
  InputFiles files(std::move(overrides), data_folders(), diagnostics, options.memory);
  const std::optional<JsonCursor> root = files.open(path, "scenarios");
  if (!root) diagnostics.throw_if_errors();
  HEADWAY_CHECK(root.has_value(), "an unreadable file is an error");
  Scenario scenario = checked(read_at(*root, path, options, files), *root, files);
  scenario.source = root;
  return scenario;
}

Scenario read_resolved_scenario(const nlohmann::json& resolved, const std::string& name,
                                Diagnostics& diagnostics) {
  const auto document = JsonDocument::parse(name, resolved.dump(2), diagnostics);
  diagnostics.throw_if_errors();
  InputFiles files({}, data_folders(), diagnostics);
  const JsonCursor root(document);
  return checked(read_at(root, name, {}, files), root, files);
}

}  // namespace headway
