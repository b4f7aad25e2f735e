#include "sim/scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"
#include "sim/jobs/read_strategy.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/read_model.h"
#include "sim/scenario/candidates.h"
#include "sim/scenario/check_profile.h"
#include "sim/scenario/read_anchors.h"
#include "sim/scenario/read_cluster.h"
#include "sim/scenario/read_cost.h"
#include "sim/scenario/read_jobs.h"
#include "sim/scenario/read_perturbations.h"
#include "sim/scenario/read_reliability.h"
#include "sim/scenario/resolved_scenario.h"

namespace headway {
namespace {

/// What moves the iterations of a mixture of experts most.
constexpr std::string_view kDecidedBySoftware[] = {"expert_dispatch", "overlap_expert_exchange",
                                                   "cuda_graph"};

/// A configuration of Hugging Face does not say what sequences its model is trained on.
void warn_of_sequences(const ReadModel& model, const ReadStrategy& strategy,
                       Diagnostics& diagnostics) {
  const bool is_theirs =
      is_huggingface_config(model.cursor) || model.cursor.member("huggingface").has_value();
  const bool has_them = model.model.has_tokens;  // images are as long as their patches
  if (!is_theirs || !has_them || strategy.cursor.member("sequence_length")) return;
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

/// What a job is made of, as far as it could be read.
struct ReadParts {
  std::optional<ReadModel> model;
  std::optional<ReadCluster> cluster;
  std::optional<ProfileList> profiles;
  std::optional<ReadStrategy> strategy;

  [[nodiscard]] bool are_all_there() const { return model && cluster && profiles && strategy; }
  [[nodiscard]] const Cluster* cluster_or_null() const {
    return cluster ? &cluster->cluster() : nullptr;
  }
  /// The nodes that the job's ranks stand in, the first of the cluster.
  [[nodiscard]] int nodes_taken() const {
    const int of_node = cluster->cluster().node_type.accelerators;
    return (cluster->accelerators() + of_node - 1) / of_node;
  }
};

ReadParts read_parts(ObjectReader& reader, InputFiles& files) {
  ReadParts parts;
  reader.report_missing("model", R"("llama3_8b")");
  reader.report_missing("cluster", R"({"topology": "dgx_h100_superpod", "nodes": 8})");
  reader.report_missing("profile", R"("h100_sxm")");
  reader.report_missing("strategy", R"({"preset": "megatron", "global_batch": 512})");
  if (const auto part = reader.required_part("model", "\"llama3_8b\"")) {
    parts.model = files.once<ReadModel>(*part, "", [&] { return read_model(*part, files); });
  }
  if (const auto part =
          reader.required_part("cluster", R"({"topology": "dgx_h100_superpod", "nodes": 8})")) {
    parts.cluster = read_cluster(*part, files);
  }
  parts.profiles = read_profiles(reader, parts.cluster_or_null(), files);
  std::optional<int> accelerators;
  if (parts.cluster) accelerators = parts.cluster->accelerators();
  const std::optional<JsonCursor> part =
      reader.required_part("strategy", R"({"preset": "megatron"})");
  if (part && parts.model) {
    const std::string given =
        fmt::format("{}\n{}", accelerators.value_or(0), parts.model->resolved.text());
    parts.strategy = files.once<ReadStrategy>(
        *part, given, [&] { return read_strategy(*part, *parts.model, accelerators, files); });
  }
  return parts;
}

bool has_servers(const Strategy& strategy) {
  return strategy.synchronisation->servers() != nullptr;
}

void check_costs_of_all(const ProfileList& profiles, const Model& model,
                        const ReadStrategy& strategy, Diagnostics& diagnostics) {
  for (const auto& profile : profiles) check_costs(*profile, model, strategy, diagnostics);
}

/// Checks them against each other.
void check_parts(const ReadParts& parts, Diagnostics& diagnostics) {
  if (!parts.strategy) return;
  const ReadStrategy& strategy = *parts.strategy;
  warn_of_sequences(*parts.model, strategy, diagnostics);
  if (!parts.cluster) return;
  const Cluster& cluster = parts.cluster->cluster();
  check_server_hosts(strategy, cluster, parts.cluster->accelerators(), diagnostics);
  check_transport(strategy, cluster, diagnostics);
  check_kinds(strategy, cluster, diagnostics);
  check_domains(strategy, cluster, parts.cluster->order, diagnostics);
  if (!parts.profiles) return;
  check_costs_of_all(*parts.profiles, parts.model->model, strategy, diagnostics);
}

void read_perturbations_and_run(Scenario& scenario, ObjectReader& reader, const ReadParts& parts,
                                const ScenarioOptions& options) {
  scenario.perturbation = read_perturbations(
      reader, parts.profiles ? parts.profiles->front().get() : nullptr, parts.cluster_or_null());
  scenario.run = read_run(reader, options.seed, options.replicas);
  scenario.perturbation.seed = static_cast<std::uint64_t>(scenario.run.seed);
  const bool needs_changes =
      !scenario.perturbation.link_episodes.empty() || !scenario.perturbation.background.empty();
  if (needs_changes && scenario.run.engine.flows == FlowEngine::simgrid) {
    reader.report("run", "SimGrid's flows do not know links that change or traffic of others", "",
                  "leave perturbations.slow_links and background_traffic out, or run.flows");
  }
}

/// What others on the fabric leave of it for storage.
StoreContext store_context(const Scenario& scenario, const ReadParts& parts, bool has_reliability) {
  int taken = parts.nodes_taken();
  for (const NeighbourJob& job : scenario.jobs) {
    for (const NeighbourJob::Size& size : job.sizes) {
      taken = std::max(taken, job.first_node + size.nodes);
    }
  }
  const bool persists = scenario.reliability
                            ? scenario.reliability->checkpoint.persisting > Seconds(0.0)
                            : has_reliability;
  return {.free_nodes = parts.cluster->cluster().nodes - taken,
          .has_parameter_servers = has_servers(parts.strategy->strategy),
          .checkpoints_beside_steps = persists};
}

/// What others on the fabric leave of it for those that generate, and what they generate with.
std::optional<PostTrainingContext> post_training_context(const ObjectReader& reader,
                                                         const ReadParts& parts,
                                                         const std::optional<StoreContext>& store) {
  if (!store) return std::nullopt;
  return PostTrainingContext{
      .model = parts.model->model,
      .strategy = parts.strategy->strategy,
      .cluster = parts.cluster->cluster(),
      .profile = *parts.profiles->front(),
      .free_nodes = store->free_nodes,
      .has_run = reader.has("reliability") || reader.has("statistics") || reader.has("cost")};
}

/// Of the fastest accelerator in a precision; 0 where no profile tells.
FlopsPerSecond highest_peak(const ProfileList& profiles, Precision precision) {
  FlopsPerSecond highest;
  for (const auto& profile : profiles) {
    const auto peak = profile->device.peak_flops.find(precision);
    if (peak == profile->device.peak_flops.end()) continue;
    highest = max(highest, FlopsPerSecond(peak->second.value));
  }
  return highest;
}

/// Requires all parts.
void read_reliability_and_jobs(Scenario& scenario, ObjectReader& reader, const ReadParts& parts,
                               const ScenarioOptions& options, InputFiles& files) {
  const Strategy& own = parts.strategy->strategy;
  scenario.reliability = read_reliability(reader,
                                          {.model = parts.model->model,
                                           .strategy = own,
                                           .cluster = parts.cluster->cluster(),
                                           .profile = *parts.profiles->front(),
                                           .train_tokens = options.train_tokens,
                                           .peak = highest_peak(*parts.profiles, own.precision)},
                                          files);
  scenario.jobs =
      read_jobs(reader,
                {.model = *parts.model,
                 .nodes = parts.nodes_taken(),
                 .cluster = parts.cluster->cluster(),
                 .has_store = reader.has("data_loading"),
                 .check_costs =
                     [&](const Model& trained, const ReadStrategy& split) {
                       check_costs_of_all(*parts.profiles, trained, split, files.diagnostics());
                     }},
                files);
  const bool is_served =
      has_servers(own) || std::ranges::any_of(scenario.jobs, [](const NeighbourJob& job) {
        return std::ranges::any_of(
            job.sizes, [](const NeighbourJob::Size& size) { return has_servers(*size.strategy); });
      });
  if (is_served && !scenario.jobs.empty()) {
    reader.report("jobs", "jobs on one fabric are modelled without parameter servers only", "",
                  "set synchronisation.scheme to \"all_reduce\" in all of them");
  }
}

void read_cost_of(const Scenario& scenario, ObjectReader& reader, const ReadParts& parts) {
  const auto part = reader.part("cost");
  if (!part) return;
  CostContext context{.cluster = parts.cluster_or_null(),
                      .has_target = scenario.statistics.has_value()};
  if (scenario.reliability) {
    context.train_tokens = scenario.reliability->train_tokens;
    context.spare_nodes = scenario.reliability->spare_nodes;
    context.has_spot_nodes = scenario.reliability->spot.has_value();
    context.has_duration = scenario.reliability->duration.has_value();
  } else if (reader.has("reliability")) {
    // What could not be read may have had both.
    context.train_tokens = std::numeric_limits<double>::infinity();
    context.has_spot_nodes = true;
  }
  reader.resolve("cost", read_cost(*part, context, reader.diagnostics()));
}

void take_parts(Scenario& scenario, const ReadParts& parts) {
  HEADWAY_CHECK(parts.are_all_there(), "a part that is not read is an error");
  scenario.model = parts.model->model;
  scenario.model_has_own_fields = parts.model->cursor.member("hidden").has_value();
  scenario.cluster = parts.cluster->topology.cluster;
  scenario.profile = parts.profiles->front();
  scenario.other_profiles.assign(parts.profiles->begin() + 1, parts.profiles->end());
  scenario.strategy = std::make_shared<const Strategy>(parts.strategy->strategy);
  scenario.leaves_experts_open =
      scenario.model.routing() != nullptr &&
      std::ranges::none_of(kDecidedBySoftware, [&](std::string_view field) {
        return parts.strategy->cursor.member(field).has_value();
      });
  scenario.placement = placement_of(*scenario.strategy, parts.cluster->order);
}

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

  ReadParts parts = read_parts(reader, files);
  check_parts(parts, diagnostics);
  read_perturbations_and_run(scenario, reader, parts, options);
  scenario.anchors = read_anchors(
      reader, parts.cluster_or_null(), files,
      [&](const JsonCursor& measured) { return read_at(measured, path, options, files); });
  std::optional<StoreContext> store;
  if (parts.are_all_there()) {
    read_reliability_and_jobs(scenario, reader, parts, options, files);
    store = store_context(scenario, parts, reader.has("reliability"));
  } else {
    static_cast<void>(reader.part("reliability"));
    static_cast<void>(reader.part("jobs"));
  }
  scenario.input = read_input(reader, store);
  scenario.statistics = read_statistics(reader);
  scenario.post_training = read_post_training(reader, post_training_context(reader, parts, store));
  if (scenario.statistics && scenario.reliability && scenario.reliability->train_tokens) {
    reader.report("statistics",
                  "statistics and reliability.train_tokens both say how long the run is", "",
                  "give reliability a duration: its goodput then stretches the run");
  }
  read_cost_of(scenario, reader, parts);

  if (parts.model) reader.resolve("model", parts.model->resolved);
  if (parts.cluster) reader.resolve("cluster", parts.cluster->resolved);
  if (parts.strategy) reader.resolve("strategy", parts.strategy->resolved);
  nlohmann::json resolved = reader.finish();
  erase_choices(resolved);
  scenario.resolved = std::move(resolved);
  if (diagnostics.has_errors()) return std::nullopt;
  take_parts(scenario, parts);
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

KindProfiles Scenario::profiles() const {
  ProfileList all{profile};
  all.insert(all.end(), other_profiles.begin(), other_profiles.end());
  return kind_profiles(all);
}

Bytes Scenario::least_memory() const {
  return Bytes(profiles().smallest(
      [](const Profile& of_kind) { return of_kind.device.memory_bytes.value; }));
}

int Scenario::accelerators() const { return strategy->ranks(); }

std::int64_t Scenario::samples_of_step() const { return strategy->global_batch; }

std::int64_t Scenario::tokens_of_step() const {
  return strategy->global_batch * (model.has_tokens ? strategy->sequence_length : 1);
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

void Scenario::change_strategy(const std::function<void(Strategy&)>& change) {
  auto copy = std::make_shared<Strategy>(*strategy);
  change(*copy);
  strategy = std::move(copy);
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
