// Jobs of frameworks as the importers make scenarios of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "sim/launch/launch_files.h"
#include "sim/launch/reading/launch_formats.h"
#include "sim/scenario/writing/shorter_scenario.h"
#include "tests/sim/launch/jobs_to_launch.h"
#include "tests/support/scratch_folder.h"

namespace headway {

struct Imported {
  nlohmann::json scenario;
  std::string told;
};

inline const ImportFormat& launch_format(std::string_view name) {
  return *std::ranges::find(launch_formats(), name, &ImportFormat::name);
}

/// Of a file that stands as `name` in a folder of its own, or with others beside it.
inline Imported imported_from(std::string_view format, const std::string& path,
                              ImportRequest request) {
  Diagnostics diagnostics;
  request.paths = {path};
  if (request.name.empty()) request.name = "job";
  if (request.topology.empty()) request.topology = "dgx_a100_superpod";
  if (request.profile.empty()) request.profile = "a100_sxm_80gb";
  const auto made = imported(launch_format(format), request, diagnostics);
  Imported job;
  if (made && !diagnostics.has_errors()) job.scenario = shorter_scenario(*made, diagnostics);
  job.told = rendered(diagnostics.all(), "nothing was imported");
  return job;
}

inline Imported imported_text(std::string_view format, const std::string& text,
                              const ImportRequest& request = {}) {
  const ScratchFolder scratch;
  return imported_from(format, scratch.write("job.txt", text), request);
}

/// Fields of a strategy that a launch file of the framework says, or that it does unasked.
inline std::vector<std::string> said_fields(const JsonValue& scenario, LaunchFramework framework) {
  const LaunchJob job = launch_job(scenario, framework);
  std::set<std::string> unsaid = {"memory", "kernel_family"};
  for (const UnsaidField& field : job.flags.unsaid) unsaid.insert(field.field);
  for (const UnsaidField& field : job.flags.of_script) unsaid.insert(field.field);
  std::vector<std::string> said;
  for (const auto& [field, value] : scenario->at("strategy").items()) {
    if (!describes_software(field) && !unsaid.contains(field)) said.push_back(field);
  }
  return said;
}

/// Imports the script that starts the job, of Llama 3 8B on H100, and expects what it says.
inline void expect_script_says(const JsonValue& before, LaunchFramework framework,
                               std::string_view format) {
  const LaunchFile script = launch_script(before, framework);
  const nlohmann::json& strategy = before->at("strategy");
  const ImportRequest request{.topology = "dgx_h100_superpod",
                              .profile = "h100_sxm",
                              .preset = strategy.at("preset"),
                              .model = "llama3_8b",
                              .sequence_length = strategy.at("sequence_length").get<double>()};
  const Imported job = imported_text(format, script.text, request);
  ASSERT_FALSE(job.scenario.is_null()) << job.told << script.text;
  EXPECT_EQ(job.told, "") << script.text;
  const nlohmann::json after = scenario_of(job.scenario).resolved->at("strategy");
  for (const std::string& field : said_fields(before, framework)) {
    EXPECT_EQ(after.value(field, nlohmann::json()), strategy.at(field)) << field << "\n"
                                                                        << script.text;
  }
}

}  // namespace headway
