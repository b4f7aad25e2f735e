#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "sim/base/join_words.h"
#include "sim/base/utf8.h"
#include "sim/import/import_format.h"
#include "sim/launch/reading/given_settings.h"
#include "sim/launch/reading/job_place.h"
#include "sim/launch/reading/megatron_flags.h"
#include "sim/launch/reading/megatron_layout.h"
#include "sim/launch/reading/megatron_model_reading.h"
#include "sim/launch/reading/strategy_of_settings.h"
#include "sim/network/placement.h"

namespace headway {

Importer import_megatron;

namespace {

using nlohmann::json;

constexpr std::string_view kMegatronDeepSpeed = "megatron-deepspeed";

class MegatronImport {
 public:
  MegatronImport(const ImportRequest& request, Diagnostics& diagnostics)
      : request_(request),
        diagnostics_(diagnostics),
        job_(read_started_job(request.paths.front(), diagnostics)) {}

  std::optional<json> made() {
    if (diagnostics_.has_errors()) return std::nullopt;
    settle_implied();
    const bool is_deepspeed = job_.settings.has("--deepspeed");
    const std::string preset = !request_.preset.empty() ? request_.preset
                               : is_deepspeed           ? std::string(kMegatronDeepSpeed)
                                                        : "megatron";
    auto model = megatron_model(job_, request_.name, request_.vocabulary, used_, diagnostics_);
    ToldStrategy told =
        strategy_of_settings(job_.settings, LaunchFramework::megatron, used_, diagnostics_);
    const Framework* const software = framework_named(preset);
    const bool has_experts = model && model->contains("mixture_of_experts");
    // What DeepSpeed does where its flags are silent is the preset's to say.
    strategy_ = is_deepspeed || software == nullptr ? std::move(told.said)
                                                    : beside_preset(told, *software, has_experts);
    if (is_deepspeed) settle_deepspeed();
    settle_batches();
    json cluster = read_cluster();
    if (diagnostics_.has_errors() || !model) return std::nullopt;
    (*model)["source"] = described();
    settle_stages(model->at("layers").get<double>());
    if (diagnostics_.has_errors()) return std::nullopt;
    settle_ranks();
    tell_unread();
    strategy_["preset"] = preset;
    json scenario = job_scenario(request_, std::move(*model), std::move(cluster), strategy_);
    scenario["description"] = described();
    return scenario;
  }

 private:
  [[nodiscard]] double degree(const char* field) const {
    const auto found = strategy_.find(field);
    const bool is_number = found != strategy_.end() && found->is_number();
    return is_number ? std::max(found->get<double>(), 1.0) : 1.0;
  }
  [[nodiscard]] double ranks_of_a_replica() const {
    return degree("tensor_parallel") * degree("context_parallel") * degree("pipeline_parallel");
  }
  void use(const char* flag) { used_.insert(flag); }

  [[nodiscard]] std::string described() const {
    return fmt::format("Read from {}{}", job_.is_log ? "the log " : "",
                       printable(request_.paths.front()));
  }

  void settle_implied() {
    GivenSettings& given = job_.settings;
    // In the order of the table: what is implied may imply more.
    for (const ImpliedFlag& rule : megatron_implied_flags()) {
      const std::string flag(rule.flag);
      if (!given.has(flag) || (!rule.value.empty() && given.value(flag) != rule.value)) continue;
      used_.insert(flag);
      given.imply(std::string(rule.implied),
                  rule.implied_value.empty()
                      ? std::vector<std::string>{}
                      : std::vector<std::string>{std::string(rule.implied_value)});
    }
    // Both formats of a recipe take the same time.
    if (given.has("--fp8-format")) {
      const std::string recipe = given.value("--fp8-recipe");
      const bool is_hybrid = recipe == "delayed" || recipe == "tensorwise";
      replace("--fp8-format", is_hybrid ? "hybrid" : "e4m3");
    }
    settle_graphs(given);
    const GivenSetting* const backend = given.find("--attention-backend");
    if (backend != nullptr && !backend->place.file.empty() &&
        given.value("--attention-backend") == "flash") {
      note("--attention-backend",
           "switches cuDNN's kernel off, which is the fastest on Hopper and later; with "
           "strategy.attention_kernel \"flash-2\" FlashAttention 2 is what is predicted");
    }
    // A length of positions that is longer than what is trained at takes no time.
    if (given.has("--seq-length") && !given.has("--max-position-embeddings")) {
      replace("--max-position-embeddings", given.value("--seq-length"));
    }
    if (given.value("--recompute-method") == "uniform" &&
        given.number("--recompute-num-layers").value_or(1.0) > 1.0) {
      note("--recompute-num-layers",
           "several layers recomputed as one keep less than is counted here, one by one");
      replace("--recompute-num-layers", "1");
    }
  }

  /// Whoever captures what of a layer: less than the whole iteration.
  void settle_graphs(GivenSettings& given) {
    if (!given.has("--cuda-graph-impl") || given.value("--cuda-graph-scope") == "full_iteration") {
      return;
    }
    replace("--cuda-graph-impl", "transformer_engine");
    given.imply("--cuda-graph-scope", {"attn"});
  }

  void replace(const std::string& flag, const std::string& value) {
    const GivenSetting* const setting = job_.settings.find(flag);
    job_.settings.give({flag, {value}, setting == nullptr ? SourceLocation{} : setting->place});
  }

  void note(const char* flag, std::string message) {
    const GivenSetting* const setting = job_.settings.find(flag);
    diagnostics_.add({.severity = Severity::warning,
                      .message = fmt::format("{}: {}", flag, message),
                      .location = setting == nullptr ? SourceLocation{} : setting->place});
  }

  /// Megatron-DeepSpeed's own flags (BigScience's and Microsoft's arguments.py).
  void settle_deepspeed() {
    if (const auto stage = job_.settings.number("--zero-stage")) {
      strategy_["zero_stage"] = static_cast<std::int64_t>(*stage);
    }
    if (const auto parts = job_.settings.number("--ds-sequence-parallel-size");
        parts && *parts > 1.0) {
      strategy_["context_parallel"] = static_cast<std::int64_t>(*parts);
      strategy_["context_parallel_method"] = "all_to_all";
    }
    if (job_.settings.has("--no-pipeline-parallel")) strategy_.erase("pipeline_parallel");
    // Its attention keeps the scores unless it is told not to.
    constexpr const char* kFused[] = {"--use-flash-attn", "--use-flash-attn-v1",
                                      "--use-flash-attn-v2", "--use-flash-attn-triton",
                                      "--use-flash-attn-builder"};
    const auto is_given = [&](const char* flag) { return job_.settings.has(flag); };
    if (std::ranges::none_of(kFused, is_given)) strategy_["attention"] = "unfused";
    for (const char* flag : kFused) use(flag);
    for (const char* flag : {"--zero-stage", "--ds-sequence-parallel-size", "--num-experts",
                             "--no-pipeline-parallel", "--ds-pipeline-enabled"}) {
      use(flag);
    }
  }

  void settle_batches() {
    for (const char* field : {"micro_batch", "sequence_length"}) {
      if (strategy_.contains(field)) continue;
      const bool is_batch = field == std::string_view("micro_batch");
      diagnostics_.add({.message = fmt::format("{} is not given",
                                               is_batch ? "--micro-batch-size" : "--seq-length"),
                        .location = {.file = request_.paths.front()}});
    }
  }

  json read_cluster() {
    json cluster = job_cluster(request_, {.ranks = job_.ranks, .nodes = job_.nodes}, diagnostics_);
    use("--use-tp-pp-dp-mapping");
    if (job_.settings.has("--use-tp-pp-dp-mapping")) {
      for (const ParallelDimension dimension :
           {ParallelDimension::tensor, ParallelDimension::context, ParallelDimension::pipeline,
            ParallelDimension::data}) {
        cluster["rank_order"].push_back(word_of(dimension));
      }
    }
    return cluster;
  }

  void settle_stages(double layers) {
    use("--num-layers-per-virtual-pipeline-stage");
    if (const auto each = job_.settings.number("--num-layers-per-virtual-pipeline-stage");
        each && *each >= 1.0 && !strategy_.contains("virtual_stages")) {
      strategy_["virtual_stages"] =
          static_cast<std::int64_t>(layers / degree("pipeline_parallel") / *each);
    }
    use("--pipeline-model-parallel-layout");
    if (const GivenSetting* const layout = job_.settings.find("--pipeline-model-parallel-layout")) {
      settle_layout(*layout, layers);
    }
    if (degree("virtual_stages") <= 1.0) strategy_.erase("overlap_pipeline_transfers");
  }

  void settle_layout(const GivenSetting& layout, double layers) {
    const std::vector<int> of_parts = layers_of_layout(join_words(layout.values, ""));
    const auto stages = static_cast<std::size_t>(degree("pipeline_parallel"));
    const int sum = std::accumulate(of_parts.begin(), of_parts.end(), 0);
    if (of_parts.empty() || of_parts.size() % stages != 0 || sum != layers) {
      diagnostics_.add(
          {.message = fmt::format("{} is no layout of {:g} layers over {} stages",
                                  in_quotes(join_words(layout.values, " ")), layers, stages),
           .location = layout.place,
           .help = "such as \"Et*3|(tt|)*14L\": E the embedding, t a layer, L the loss, a bar "
                   "between stages"});
      return;
    }
    if (of_parts.size() > stages) strategy_["virtual_stages"] = of_parts.size() / stages;
    strategy_["layers_per_stage"] = of_parts;
  }

  /// The replicas that the ranks make, and what is said by their number.
  void settle_ranks() {
    const double of_a_replica = ranks_of_a_replica();
    const double replicas = job_.ranks ? std::floor(*job_.ranks / of_a_replica) : 0.0;
    if (!request_.nodes && replicas >= 1.0) {
      strategy_["data_parallel"] = static_cast<std::int64_t>(replicas);
    }
    if (const auto copies = job_.settings.number("--num-distributed-optimizer-instances");
        copies && *copies > 1.0 && replicas >= *copies) {
      strategy_["shard_group"] =
          static_cast<std::int64_t>(replicas * degree("context_parallel") / *copies);
    }
  }

  void tell_unread() {
    std::vector<std::string> unread;
    SourceLocation place = {.file = request_.paths.front()};
    for (const auto& [flag, setting] : job_.settings.all()) {
      const bool is_known =
          used_.contains(flag) || setting.place.file.empty() || is_no_matter_to_megatron(flag);
      // A log has every argument there is, most of them as they are by themselves.
      if (is_known || job_.is_log) continue;
      if (unread.empty()) place = setting.place;
      unread.push_back(flag);
    }
    if (unread.empty()) return;
    diagnostics_.add({.severity = Severity::warning,
                      .message = fmt::format("not read: {}", join_words(unread, ", ")),
                      .location = place,
                      .help = "what of it changes speed or memory is for fields of the scenario: "
                              "`headway explain strategy`"});
  }

  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  StartedJob job_;
  std::set<std::string> used_;
  json strategy_;
};

}  // namespace

std::optional<json> import_megatron(const ImportRequest& request, Diagnostics& diagnostics) {
  return MegatronImport(request, diagnostics).made();
}

}  // namespace headway
