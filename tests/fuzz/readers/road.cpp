#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/answers/answers.h"
#include "reports/trace/trace.h"
#include "sim/base/child_process.h"
#include "sim/base/diagnostic.h"
#include "sim/base/file_text.h"
#include "sim/base/limits.h"
#include "sim/files/input_files.h"
#include "sim/predict/simulate.h"
#include "sim/result/json/read_result.h"
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/readers/readers.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void require_none(const std::string& where, const std::vector<std::string>& wrong) {
  HEADWAY_CHECK(wrong.empty(), where + ": " + wrong.front());
}

json judged(const Answer& answer) {
  json result = json::parse(answer_as(".json", answer), nullptr, false);
  HEADWAY_CHECK(!result.is_discarded(), "the answer is JSON");
  require_none("text", nonsense_in_text(answer.text({}), result));
  require_none("result", nonsense_in(result));
  return result;
}

/// What `headway report` makes of a result, which is what was told of it before; in every form.
void report_again(const json& result) {
  const HeldFile held("<result>", result.dump());
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto root = files.open("<result>", "");
  HEADWAY_CHECK(root.has_value(), "what was written is read");
  const Prediction again = read_result(*root, diagnostics);
  HEADWAY_CHECK(!diagnostics.has_errors(), "report refuses what simulate wrote: " +
                                               rendered(diagnostics.all(), "nothing was done"));
  const Answer answer = prediction_answer(again);
  HEADWAY_CHECK(judged(answer) == result, "what is read is what was written");
  require_none("md", nonsense_in_text(answer_as(".md", answer), result));
  require_none("csv", nonsense_in_text(answer_as(".csv", answer), result));
  HEADWAY_CHECK(!answer_as(".html", answer).empty(), "a page holds something");
}

/// In this process where that can be: under sanitizers a child takes longer to make than its work.
Simulation simulated(const Scenario& scenario) {
  try {
    const AsChild here;
    return simulate_in_full(scenario, {});
  } catch (const FreshChildNeeded&) {
    return simulate_in_full(scenario, {});
  }
}

/// A made-up accelerator for that of a scenario: reading all that is known of one that ships takes
/// most of the time that a text takes.
json with_made_up_accelerator(json scenario) {
  static const json kMadeUp = json::parse(
      std::ifstream(fs::path(source_folder()) / "tests/transcripts/files/tiny_profile.json"));
  json profile = kMadeUp;
  const json& strategy = scenario.at("strategy");
  const auto same = [](json& of, const std::string& name) { of.emplace(name, of.front()); };
  same(profile.at("kernel_families"), strategy.at("kernel_family"));
  for (const char* rates : {"peak_flops_per_s", "gemm_efficiency"}) {
    same(profile.at("device").at(rates), strategy.at("precision"));
  }
  scenario["cluster"]["topology"]["node"]["accelerator"] = profile.at("accelerator");
  scenario["profile"] = std::move(profile);
  return scenario;
}

}  // namespace

std::vector<std::string> road_texts() {
  std::vector<std::string> paths = {"llama3_8b_64",          "resnet_50_64",
                                    "dlrm_dcnv2_64",         "diloco_two_sites",
                                    "goyal_2017_256",        "listed_layers_16",
                                    "llama3_8b_spot_64",     "bert_large_64",
                                    "two_jobs_one_fabric",   "straggler_pauses_and_cable",
                                    "llama3_8b_h100_a100_64"};
  std::vector<std::string> texts;
  const auto add = [&](const std::string& path, const std::vector<std::string>& overrides) {
    ScenarioOptions options{.replicas = 1};
    for (const std::string& line : overrides) options.overrides.push_back(parse_override(line));
    try {
      Diagnostics diagnostics;
      const json resolved = *read_scenario(path, options, diagnostics).resolved;
      texts.push_back(resolved.dump(1) + "\n");
      const std::string small = with_made_up_accelerator(resolved).dump(1) + "\n";
      if (read_within_limits(reader_named("scenario"), small)) texts.back() = small;
      return true;
    } catch (const InputError&) {
      return false;  // a job may need more nodes
    }
  };
  for (const std::string& name : paths) {
    add(name, {"/cluster/nodes=2"}) || add(name, {"/cluster/nodes=8"}) || add(name, {});
  }
  const fs::path seeds = fs::path(source_folder()) / "tests/fuzz/seeds";
  for (const char* name : {"road_pipeline.json", "road_mixture.json", "road_drawn.json"}) {
    HEADWAY_CHECK(add((seeds / name).string(), {}), "a seed is read");
  }
  return texts;
}

void road_reader(const std::string& text) {
  // What is let through is simulated, under sanitizers, in a tenth of a second.
  limits().passes = 256;
  limits().cables = 512;
  const HeldFile held("<input>", text);
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario("<input>", {}, diagnostics);
  const Simulation simulation = simulated(scenario);
  report_again(judged(prediction_answer(simulation.prediction)));
  std::ostringstream trace;
  write_trace(trace, simulation.workload, simulation.timeline);
  HEADWAY_CHECK(json::accept(trace.str()), "a trace is JSON");
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  HEADWAY_CHECK(used.ru_maxrss < 2 << 20, "no simulation takes more than 2 GiB");
}

}  // namespace headway
