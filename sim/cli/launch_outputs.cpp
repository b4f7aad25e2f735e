#include "sim/cli/launch_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/write_file.h"
#include "sim/base/join_words.h"
#include "sim/base/refuse.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

constexpr std::string_view kScript = ".sh";
constexpr std::string_view kManifests[] = {".yaml", ".yml"};

/// What an option with these words says; nothing if it is not there.
template <class E>
std::optional<E> word_of_option(const Arguments& arguments, const std::string& option) {
  const auto asked = arguments.value(option);
  return asked ? value_named<E>(*asked) : std::nullopt;
}

bool is_manifest(const std::string& path) {
  return std::ranges::find(kManifests, suffix_of(path)) != std::end(kManifests);
}

std::optional<LaunchFramework> framework_of(const JsonValue& scenario,
                                            const LaunchOptions& options) {
  return options.framework ? options.framework : launch_framework_of(scenario);
}

[[noreturn]] void refuse_manifest(LaunchFramework framework) {
  refuse(framework == LaunchFramework::horovod
             ? "Horovod is started by MPI"
             : fmt::format("{} is not started by MPI", framework_title(framework)),
         framework == LaunchFramework::horovod ? "use --manifest mpijob, or leave it out"
                                               : "use --manifest pytorchjob or trainjob");
}

}  // namespace

LaunchOptions launch_options_of(const Arguments& arguments, Diagnostics& diagnostics) {
  LaunchOptions options{.framework = word_of_option<LaunchFramework>(arguments, "framework"),
                        .manifest = word_of_option<JobManifest>(arguments, "manifest")};
  const std::vector<std::string> files = arguments.values("output");
  if (arguments.has("manifest") && std::ranges::none_of(files, is_manifest)) {
    diagnostics.add({.message = "--manifest goes with a .yaml file",
                     .help = "add -o job.yaml, or leave it out"});
  }
  return options;
}

bool is_launch_file(const std::string& path) {
  return suffix_of(path) == kScript || is_manifest(path);
}

std::vector<OutputFile> plan_files(const Arguments& arguments, const std::string& input,
                                   Diagnostics& diagnostics) {
  std::vector<std::string> suffixes = answer_suffixes();
  suffixes.emplace_back(kScript);
  suffixes.emplace_back(kManifests[0]);
  suffixes.emplace_back(kManifests[1]);
  std::vector<OutputFile> files = report_files(arguments.values("output"), suffixes, diagnostics);
  check_outputs(files, diagnostics);
  check_outputs_spare(files, {input}, diagnostics);
  return files;
}

void check_launch(const JsonValue& scenario, const LaunchOptions& options,
                  const std::vector<OutputFile>& files) {
  if (std::ranges::none_of(files, is_launch_file, &OutputFile::path)) return;
  const std::optional<LaunchFramework> framework = framework_of(scenario, options);
  if (!framework) {
    refuse(fmt::format("nobody knows what starts a job of the preset {}",
                       compact_json(scenario->at("strategy").at("preset"))),
           fmt::format("say --framework {}", join_words(words_of<LaunchFramework>(), " or ")));
  }
  if (options.manifest && !can_start(*options.manifest, *framework)) refuse_manifest(*framework);
}

void write_launch_file(const JsonValue& scenario, const LaunchOptions& options,
                       const std::string& path, Terminal& terminal) {
  const std::optional<LaunchFramework> framework = framework_of(scenario, options);
  HEADWAY_CHECK(framework.has_value(), "checked before the answer was sought");
  const LaunchFile file =
      is_manifest(path) ? launch_manifest(scenario, *framework,
                                          options.manifest.value_or(usual_manifest(*framework)))
                        : launch_script(scenario, *framework);
  write_file(path, file.text);
  terminal.remark(fmt::format("wrote {}\n", path));
  for (const std::string& remark : file.remarks) {
    terminal.narrate(fmt::format("{}: {}\n", path, remark));
  }
}

}  // namespace headway
