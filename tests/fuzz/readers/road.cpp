#include <sys/resource.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "reports/answers/answers.h"
#include "reports/trace/trace.h"
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

/// Every form that an answer can be had in. Returns the JSON.
json judged(const Answer& answer) {
  require_none("text", nonsense_in_text(answer.text({})));
  require_none("md", nonsense_in_text(answer_as(".md", answer)));
  require_none("csv", nonsense_in_text(answer_as(".csv", answer)));
  HEADWAY_CHECK(!answer_as(".html", answer).empty(), "a page holds something");
  json result = json::parse(answer_as(".json", answer), nullptr, false);
  HEADWAY_CHECK(!result.is_discarded(), "the answer is JSON");
  require_none("result", nonsense_in(result));
  return result;
}

/// What `headway report` makes of a result, which is what was told of it before.
void report_again(const json& result) {
  const HeldFile held("<result>", result.dump());
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto root = files.open("<result>", "");
  HEADWAY_CHECK(root.has_value(), "what was written is read");
  const Prediction again = read_result(*root, diagnostics);
  HEADWAY_CHECK(!diagnostics.has_errors(), "report refuses what simulate wrote: " +
                                               rendered(diagnostics.all(), "nothing was done"));
  HEADWAY_CHECK(judged(prediction_answer(again)) == result, "what is read is what was written");
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
      texts.push_back(read_scenario(path, options, diagnostics).resolved->dump(1) + "\n");
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
  const Simulation simulation = simulate_in_full(scenario, {});
  report_again(judged(prediction_answer(simulation.prediction)));
  std::ostringstream trace;
  write_trace(trace, simulation.workload, simulation.timeline);
  HEADWAY_CHECK(json::accept(trace.str()), "a trace is JSON");
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  HEADWAY_CHECK(children.ru_maxrss < 2 << 20, "no simulation takes more than 2 GiB");
}

}  // namespace headway
