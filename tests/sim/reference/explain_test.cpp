#include "sim/reference/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "reports/answers/answers.h"
#include "reports/answers/explanation.h"
#include "sim/base/diagnostic.h"
#include "sim/plan/cluster_plan.h"
#include "sim/plan/largest_plan.h"
#include "sim/plan/purchase_plan.h"
#include "sim/reference/catalog.h"
#include "sim/reference/explain_file.h"
#include "sim/result/json/result_json.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

bool is_known(const std::string& name) {
  return std::ranges::any_of(topics(), [&](const Topic& topic) { return topic.name == name; });
}

/// Objects whose members have free names, which topics leave out.
const std::set<std::string> kMaps = {"profile.kernel_families", "profile.device.attention_kernels"};
/// Objects whose members are values of one kind, told with the object.
const std::set<std::string> kWholes = {"profile.provenance",
                                       "profile.device.peak_flops_per_s",
                                       "profile.device.gemm_efficiency",
                                       "long_run.goodput",
                                       "long_run.ettr",
                                       "long_run.interruptions",
                                       "long_run.lost_gpu_hours",
                                       "long_run.checkpoint",
                                       "plan.leaders.breakdown_s",
                                       "plan.leaders.strategy",
                                       "plan.sizes.runs.strategy",
                                       "plan.closest.strategy",
                                       "plan.largest",
                                       "alternatives",
                                       "choose"};

/// Objects that are told elsewhere.
const std::map<std::string, std::string> kSame = {
    {"cluster.topology.other_nodes.node", "cluster.topology.node"},
    {"jobs.model", "model"},
    {"jobs.strategy", "strategy"},
    {"candidates.cost", "cost"},
    {"candidates.model", "model"},
    {"candidates.statistics", "statistics"},
    {"candidates.data_loading", "data_loading"},
    {"candidates.strategy", "strategy"},
    {"candidates.reliability", "reliability"},
    {"candidates.perturbations", "perturbations"}};

/// Adds every field of `value` that explain does not know.
void collect_unknown(const nlohmann::json& value, const std::string& name,
                     std::set<std::string>& unknown) {
  if (value.is_array()) {
    for (const nlohmann::json& element : value) collect_unknown(element, name, unknown);
    return;
  }
  const bool is_estimate = value.is_object() && value.contains("value") && value.contains("spread");
  if (!value.is_object() || is_estimate || kWholes.contains(name)) return;
  for (const auto& [key, member] : value.items()) {
    std::string path = name;
    if (!kMaps.contains(name)) path.append(name.empty() ? "" : ".").append(key);
    if (!is_known(path)) unknown.insert(path);
    const auto same = kSame.find(path);
    collect_unknown(member, same == kSame.end() ? path : same->second, unknown);
  }
}

nlohmann::json resolved(const std::string& path) {
  Diagnostics diagnostics;
  const auto file = explained_file(path, {}, diagnostics);
  EXPECT_TRUE(file.has_value()) << path;
  return file ? *file->resolved : nlohmann::json();
}

nlohmann::json raw(const std::string& path) { return nlohmann::json::parse(std::ifstream(path)); }

std::set<std::string> unknown_fields(const std::string& kind, const std::string& root) {
  std::set<std::string> unknown;
  for (const CatalogEntry& entry : catalog(kind)) {
    collect_unknown(resolved(entry.path), root, unknown);
    collect_unknown(raw(entry.path), root, unknown);  // what is checked and not resolved
  }
  return unknown;
}

TEST(Explain, FieldsOfAnotherJobAreThoseOfTheOwn) {
  EXPECT_EQ(topic_named("jobs.strategy.tensor_parallel", topics()).name,
            "strategy.tensor_parallel");
  EXPECT_EQ(topic_named("/jobs/0/model/layers", topics()).name, "model.layers");
  EXPECT_EQ(topic_named("jobs.strategy", topics()).name, "jobs.strategy");
  EXPECT_EQ(topic_named("cluster.topology.other_nodes.node.nics", topics()).name,
            "cluster.topology.node.nics");
}

TEST(Explain, KnowsEveryFieldOfTheShippedScenarios) {
  EXPECT_THAT(unknown_fields("scenarios", ""), ElementsAre());
}
TEST(Explain, KnowsEveryFieldOfTheShippedModels) {
  EXPECT_THAT(unknown_fields("models", "model"), ElementsAre());
}
TEST(Explain, KnowsEveryFieldOfTheShippedTopologies) {
  EXPECT_THAT(unknown_fields("topologies", "cluster.topology"), ElementsAre());
}
TEST(Explain, KnowsEveryFieldOfTheShippedProfiles) {
  EXPECT_THAT(unknown_fields("profiles", "profile"), ElementsAre());
}

TEST(Explain, KnowsEveryFieldOfTheShippedNodeTypes) {
  std::set<std::string> unknown;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "topologies/nodes")) {
    collect_unknown(resolved(entry.path().string()), "cluster.topology.node", unknown);
  }
  EXPECT_THAT(unknown, ElementsAre());
}

/// HEADWAY_UPDATE_SCHEMAS=1 writes it, as it does the schemas.
TEST(Explain, ReferenceOfFieldsIsTheOneThatShips) {
  const fs::path file = fs::path(source_folder()) / "scenarios/REFERENCE.md";
  const std::string page = field_reference(topics());
  if (const char* update = std::getenv("HEADWAY_UPDATE_SCHEMAS"); update != nullptr) {
    std::ofstream(file) << page;
  }
  std::ostringstream shipped;
  shipped << std::ifstream(file).rdbuf();
  EXPECT_TRUE(shipped.str() == page) << "headway explain --fields > " << file.string();
}

TEST(Explain, KnowsEveryValueOfAResult) {
  Prediction prediction;
  prediction.scaling.emplace();
  prediction.anchor.emplace().steps.emplace_back();
  prediction.what_if.emplace();
  prediction.reliability.emplace().time_to_train_s = {1.0};
  prediction.memory.stages.emplace_back();
  nlohmann::json result = result_json(prediction);
  // These are told in one text each.
  for (const char* whole : {"scenario", "provenance", "question", "scaling_reference"}) {
    EXPECT_TRUE(is_known(whole)) << whole;
    result.erase(whole);
  }
  // "schema" and "replicas" are names of fields too, with the same meaning.
  result.erase("schema");
  result.erase("replicas");
  std::set<std::string> unknown;
  collect_unknown(result, "", unknown);
  EXPECT_THAT(unknown, ElementsAre());
}

/// One leader, one run: every key that a plan can have.
TEST(Explain, KnowsEveryValueOfAPlan) {
  Prediction prediction;
  prediction.question.scenario = nlohmann::json{{"strategy", nlohmann::json::object()}};
  prediction.question.provenance = nlohmann::json{{"command_line", ""}};
  const Leader leader{.prediction = prediction};
  const auto parsed = [](const Answer& answer) { return nlohmann::json::parse(answer.json()); };
  StrategyPlan strategies;
  const nlohmann::json nothing_fits = parsed(strategy_plan_answer(strategies));
  strategies.leaders = {leader};
  ClusterPlan clusters;
  clusters.sizes.resize(2);
  clusters.sizes[0].reason = "some";
  clusters.sizes[1].runs = {ClusterRun{.leader = leader}};
  clusters.sizes[1].power = Watts(1.0);
  clusters.sizes[1].bought = 1.0;
  clusters.sizes[1].bill.cables.emplace_back();
  clusters.answer = 1;
  clusters.nearest.emplace();
  PurchasePlan purchase{.candidates = {{.name = "some", .plan = clusters}}, .answer = 0};
  nlohmann::json purchased = parsed(purchase_plan_answer(purchase));
  nlohmann::json candidate = purchased["candidates"][0];
  for (const char* own : {"name", "cluster", "nearest_size"}) candidate.erase(own);
  for (const char* like_a_plan :
       {"gpus", "best", "sizes", "nearest", "delivered_nodes", "memory_capacity_bytes"}) {
    purchased["candidates"][0].erase(like_a_plan);
  }
  purchased["candidates"][0]["nearest_size"] = nullptr;
  LargestPlan largest;
  largest.tried = {TriedSize{.name = "some"}};
  largest.largest = largest.tried.front();
  largest.plan = strategies;
  std::set<std::string> unknown;
  for (nlohmann::json plan : {nothing_fits, parsed(strategy_plan_answer(strategies)),
                              parsed(cluster_plan_answer(clusters)),
                              parsed(largest_plan_answer(largest)), purchased, candidate}) {
    plan["best"] = nullptr;  // a result
    collect_unknown(plan, "plan", unknown);
  }
  EXPECT_THAT(unknown, ElementsAre());
}

TEST(Explain, NamesAreUniqueAndEveryTopicSaysSomething) {
  std::set<std::string> names;
  for (const Topic& topic : topics()) {
    EXPECT_TRUE(names.insert(topic.name).second) << topic.name;
    EXPECT_TRUE(topic.about.ends_with('.')) << topic.name;
    EXPECT_FALSE(topic.type.empty()) << topic.name;
    EXPECT_EQ(topic.kind == TopicKind::field, !topic.fallback.empty()) << topic.name;
  }
}

/// A scenario that leaves out all it can.
constexpr const char* kLeast = R"({
  "schema": "headway/scenario/1",
  "model": {"layers": 4, "hidden": 1024, "attention_heads": 16, "ffn_hidden": 4096,
            "mlp": "plain", "vocabulary": 32768, "sequence_length": 1024},
  "cluster": {"topology": {"name": "least",
    "node": {"accelerator": "any", "nics": {"bandwidth": "100 Gb/s"}},
    "nodes": 2, "fabric": {"kind": "single_switch"}}},
  "profile": "h100_sxm",
  "strategy": {"global_batch": 16}
})";

TEST(Explain, DefaultsAreThoseThatReadersTake) {
  const ScratchFolder scratch;
  const nlohmann::json least = resolved(scratch.write("least.json", kLeast));
  int compared = 0;
  for (const Topic& topic : topics()) {
    // A default that is a value and no rule, such as 1, "auto" or true.
    const nlohmann::json fallback = nlohmann::json::parse(topic.fallback, nullptr, false);
    if (topic.kind != TopicKind::field || fallback.is_discarded()) continue;
    std::string pointer = "/" + topic.name;
    std::ranges::replace(pointer, '.', '/');
    const nlohmann::json::json_pointer place(pointer);
    if (!least.contains(place)) continue;
    if (fallback == nlohmann::json::object()) continue;  // its members are compared
    EXPECT_EQ(least.at(place), fallback) << topic.name;
    ++compared;
  }
  EXPECT_GE(compared, 30);  // or the names have drifted apart
}

std::string problem_with(const std::string& name) {
  try {
    return topic_named(name, topics()).name;
  } catch (const InputError& error) {
    const Diagnostic& problem = error.diagnostics().front();
    return problem.message + " (" + problem.help + ")";
  }
}

TEST(Explain, TheEndOfANameWillDo) {
  EXPECT_EQ(topic_named("recompute", topics()).name, "strategy.recompute");
  EXPECT_EQ(topic_named("leaf.uplinks", topics()).name, "cluster.topology.fabric.leaf.uplinks");
  EXPECT_EQ(topic_named("pipeline_bubble", topics()).name, "breakdown_s.pipeline_bubble");
}

TEST(Explain, FieldsWinOverValuesOfResults) {
  // There is breakdown_s.tensor_parallel too.
  EXPECT_EQ(topic_named("tensor_parallel", topics()).name, "strategy.tensor_parallel");
}

TEST(Explain, AWholeNameWinsOverTheEndOfAnother) {
  EXPECT_EQ(topic_named("name", topics()).name, "name");
}

TEST(Explain, PointersIndicesUnitsAndCapitalsDoNotMatter) {
  EXPECT_EQ(topic_named("/strategy/tensor_parallel", topics()).name, "strategy.tensor_parallel");
  EXPECT_EQ(topic_named("/cluster/topology/fabric/cables/3/from", topics()).name,
            "cluster.topology.fabric.cables.from");
  EXPECT_EQ(topic_named("breakdown.compute", topics()).name, "breakdown_s.compute");
  EXPECT_EQ(topic_named("MFU", topics()).name, "mfu");
}

TEST(Explain, SeveralMeaningsAreListed) {
  EXPECT_EQ(problem_with("sequence_length"),
            "\"sequence_length\" is the end of several names (write one of "
            "strategy.sequence_length, model.sequence_length)");
}

TEST(Explain, UnknownNamesAreMended) {
  EXPECT_EQ(
      problem_with("virtual_stage"),
      "nothing is called \"virtual_stage\" (did you mean \"virtual_stages\"? it is told of in "
      "strategy.layers_per_stage; `headway explain` lists all names)");
  for (const std::string name : {"", "   "}) {
    EXPECT_EQ(problem_with(name),
              "nothing is called \"" + name + "\" (`headway explain` lists all names)");
  }
}

TEST(Explain, WordsOfANameMayStandApart) {
  EXPECT_EQ(topic_named("Tensor Parallel", topics()).name, "strategy.tensor_parallel");
  EXPECT_EQ(topic_named("deepspeed_zero_3", topics()).name, "preset.deepspeed-zero-3");
  EXPECT_NE(problem_with("ring-attention").find("told of in strategy.context_parallel_method"),
            std::string::npos);
}

TEST(Explain, APresetTellsTheFieldsItSets) {
  EXPECT_EQ(topic_named("preset.none", topics()).about,
            "Sets nothing: the defaults of the fields.");
  const std::string about = topic_named("gpipe", topics()).about;
  EXPECT_NE(about.find("schedule \"gpipe\""), std::string::npos) << about;
  EXPECT_NE(about.find("recompute \"full\""), std::string::npos) << about;
  // What its software keeps, what only adapters have, and nothing that follows from accelerators.
  const std::string trainer = topic_named("transformers", topics()).about;
  for (const char* set : {"memory.standing_buckets true", "lora_precision \"fp32\"",
                          "first_gradient_bucket \"1 MiB\""}) {
    EXPECT_NE(trainer.find(set), std::string::npos) << trainer;
  }
  EXPECT_EQ(trainer.find("allocator_reserve"), std::string::npos) << trainer;
  const std::string servers = topic_named("tf-parameter-server", topics()).about;
  EXPECT_EQ(servers.find("data_parallel"), std::string::npos) << servers;
}

TEST(ExplainedFiles, AModelThatSeesSaysSoInLists) {
  Diagnostics diagnostics;
  const auto model = explained_file("scenarios/models/llava_1.5_7b.json", {}, diagnostics);
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(model->about,
            "7.1 B parameters, 32 layers, hidden 4096, 32 heads, sequence 2048, a vision tower of "
            "24 layers");
}

}  // namespace
}  // namespace headway
