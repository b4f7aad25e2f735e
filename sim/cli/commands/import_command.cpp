#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/answers/imported.h"
#include "reports/write_file.h"
#include "sim/base/file_text.h"
#include "sim/base/parse_number.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/files/json_output.h"
#include "sim/import/import_format.h"
#include "sim/launch/reading/launch_formats.h"
#include "sim/scenario/writing/shorter_scenario.h"

namespace headway {
namespace {

constexpr std::size_t kMostDumps = 100'000;
constexpr std::int64_t kMostJobNodes = 1'000'000;
constexpr std::int64_t kMostWords = 1'000'000'000;

/// Of fabrics, nodes and jobs.
std::vector<ImportFormat> formats() {
  std::vector<ImportFormat> all(import_formats().begin(), import_formats().end());
  all.insert(all.end(), launch_formats().begin(), launch_formats().end());
  return all;
}

ImportFormat format_named(const std::string& name) {
  std::vector<std::string> names;
  for (const ImportFormat& format : formats()) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  refuse(fmt::format("there is no importer of {}", in_quotes(name)), name_help(name, names));
}

/// "site" of "dumps/site.txt.gz".
std::string name_of_file(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string stem = name.substr(0, name.find('.'));
  return printable(stem.empty() || path == "-" ? "imported" : stem);
}

template <class Q>
std::optional<Q> quantity_of(const Arguments& arguments, std::string_view option) {
  const auto text = arguments.value(option);
  if (!text) return std::nullopt;
  const ParsedQuantity<Q> parsed = parse_quantity<Q>(*text);
  if (const Q* value = std::get_if<Q>(&parsed); value != nullptr && *value > Q(0.0)) return *value;
  refuse(
      fmt::format("--{} takes {} above 0, not {}", option, dimension_name<Q>(), in_quotes(*text)),
      fmt::format("such as --{} \"{}\"", option, example_text<Q>()));
}

std::optional<double> ratio_of(const Arguments& arguments, std::string_view option) {
  const auto text = arguments.value(option);
  if (!text) return std::nullopt;
  const auto value = parse_number<double>(*text);
  if (value && *value >= 1.0 && *value <= 1e3) return value;
  refuse(fmt::format("--{} takes a number from 1 to 1000, not {}", option, in_quotes(*text)));
}

/// Reports an option that the format has no use for.
void check_options(const Arguments& arguments, const ImportFormat& format) {
  for (const std::string_view option :
       {"node", "accelerator", "bandwidth", "scale-up-bandwidth", "nics", "oversubscription",
        "domains", "domain-pattern", "topology", "profile", "preset", "nodes", "vocabulary",
        "model", "sequence-length"}) {
    const bool is_used = std::ranges::find(format.knows_of, option) != format.knows_of.end();
    if (is_used || !arguments.has(option)) continue;
    Diagnostic problem;
    problem.message = fmt::format("the {} importer has no use for --{}", format.name, option);
    const bool takes_node = std::ranges::find(format.knows_of, "node") != format.knows_of.end();
    if (takes_node && option != "node") {
      problem.help = "what is in a node is said by its type: --node FILE or a name";
    }
    throw InputError(std::move(problem));
  }
}

ImportRequest import_request_of(const Arguments& arguments, const std::vector<std::string>& paths) {
  ImportRequest request{.paths = paths};
  request.name = arguments.value("name").value_or(name_of_file(paths.front()));
  request.node = arguments.value("node").value_or("");
  request.accelerator = arguments.value("accelerator").value_or("");
  request.bandwidth = quantity_of<BytesPerSecond>(arguments, "bandwidth");
  request.scale_up_bandwidth = quantity_of<BytesPerSecond>(arguments, "scale-up-bandwidth");
  if (const auto nics = arguments.integer("nics", 1, 256)) request.nics = static_cast<int>(*nics);
  request.oversubscription = ratio_of(arguments, "oversubscription");
  request.domains = arguments.values("domains");
  request.domain_pattern = arguments.value("domain-pattern").value_or("");
  request.topology = arguments.value("topology").value_or("");
  request.profile = arguments.value("profile").value_or("");
  request.preset = arguments.value("preset").value_or("");
  request.model = arguments.value("model").value_or("");
  if (const auto nodes = arguments.integer("nodes", 1, kMostJobNodes)) {
    request.nodes = static_cast<int>(*nodes);
  }
  if (const auto words = arguments.integer("vocabulary", 1, kMostWords)) {
    request.vocabulary = static_cast<double>(*words);
  }
  if (const auto tokens = arguments.integer("sequence-length", 1, kMostWords)) {
    request.sequence_length = static_cast<double>(*tokens);
  }
  return request;
}

int run_import(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const ImportFormat format = format_named(arguments.positional().front());
  const std::vector<std::string> paths(arguments.positional().begin() + 1,
                                       arguments.positional().end());
  check_options(arguments, format);
  Diagnostics diagnostics;
  const std::vector<OutputFile> outputs =
      report_files(arguments.values("output"), {".json"}, diagnostics);
  check_outputs(outputs, diagnostics);
  check_outputs_spare(outputs, paths, diagnostics);
  diagnostics.throw_if_errors();

  if (format.makes == ImportedKind::scenario && paths.size() > 1) {
    refuse(fmt::format("a job has one file, not {}", paths.size()));
  }
  auto made = imported(format, import_request_of(arguments, paths), diagnostics);
  diagnostics.throw_if_errors();
  if (format.makes == ImportedKind::scenario) made = shorter_scenario(*made, diagnostics);
  diagnostics.throw_if_errors();
  const std::string text = json_document_text(*made);
  const std::string summary = imported_summary(text, format, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  for (const OutputFile& output : outputs) write_file(output.path, text);
  invocation.terminal.print(outputs.empty() ? text : summary);
  return kExitDone;
}

/// "FORMAT is one of" and a line for each.
std::string formats_text() {
  std::string text;
  for (const ImportFormat& format : formats()) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", format.name, format.input);
  }
  return text;
}

}  // namespace

Command import_command() {
  Command command;
  command.name = "import";
  command.group = "Look up";
  command.arguments = "FORMAT FILE...";
  command.summary = "a topology, a node type or a scenario from what is there";
  command.about =
      "Makes a topology from dumps of a real fabric, a node type from dumps of a node (nccl-xml, "
      "topo-matrix), or a scenario from the script, the configuration or the log of a job "
      "(megatron-lm, torchtitan, deepspeed, accelerate).";
  command.examples = {
      {"headway import ibnetdiscover fabric.txt tables.txt.gz -o site.json",
       "cables and forwarding tables of an InfiniBand fabric"},
      {"headway import megatron-lm train.sh --topology site.json --profile h100_sxm",
       "the job that a script starts, or that a log tells of"},
  };
  Option output = output_option();
  output.help = "writes to a .json file instead of standard output";
  command.options = with_standard_options({
      {.name = "name",
       .value = "TEXT",
       .fallback = "the first file's",
       .help = "what reports call it",
       .group = OptionGroup::input},
      {.name = "node",
       .value = "NAME",
       .fallback = "assumed",
       .help = "of nodes: a file, or a shipped name",
       .group = OptionGroup::input},
      {.name = "accelerator",
       .value = "NAME",
       .fallback = "the file's",
       .help = "of a node, as profiles name it",
       .group = OptionGroup::input},
      {.name = "bandwidth",
       .value = "RATE",
       .help = "of links or NICs, where files do not tell",
       .group = OptionGroup::input},
      {.name = "scale-up-bandwidth",
       .value = "RATE",
       .help = "of an accelerator in its node, likewise",
       .group = OptionGroup::input},
      {.name = "nics",
       .value = "N",
       .fallback = "1",
       .help = "of a node, where files do not tell",
       .group = OptionGroup::input},
      {.name = "oversubscription",
       .value = "RATIO",
       .fallback = "1",
       .help = "of each tier, where files do not tell",
       .group = OptionGroup::input},
      {.name = "domains",
       .value = "FILE",
       .help = "which nodes share a scale-up domain: blocks of Slurm, hosts, or cliques of pdsh",
       .group = OptionGroup::input,
       .repeatable = true},
      {.name = "domain-pattern",
       .value = "REGEX",
       .help = "the same by names: what its group matches",
       .group = OptionGroup::input},
      {.name = "topology",
       .value = "NAME",
       .help = "what a job runs on: a file, or a shipped name",
       .group = OptionGroup::input},
      {.name = "profile",
       .value = "FILE",
       .help = "what things cost: a file or a shipped name",
       .group = OptionGroup::input},
      {.name = "nodes",
       .value = "N",
       .fallback = "the file's",
       .help = "nodes of the fabric",
       .group = OptionGroup::input},
      {.name = "preset",
       .value = "NAME",
       .fallback = "the file's",
       .help = "software of a job",
       .group = OptionGroup::input},
      {.name = "model",
       .value = "NAME",
       .fallback = "the file's",
       .help = "of a job: a file, or a shipped name",
       .group = OptionGroup::input},
      {.name = "sequence-length",
       .value = "N",
       .fallback = "the file's",
       .help = "of a job, in tokens",
       .group = OptionGroup::input},
      {.name = "vocabulary",
       .value = "N",
       .fallback = "the file's",
       .help = "of a job, with padding",
       .group = OptionGroup::input},
      output,
  });
  for (const ImportFormat& format : formats()) command.words.emplace_back(format.name);
  command.least_arguments = 2;
  command.most_arguments = kMostDumps;
  command.outcome = "nothing was imported";
  command.details =
      "Formats: " + formats_text() +
      ". Plain ibnetdiscover and its options -f, -g and -p are read; of -p, which has no GUIDs of "
      "adapters, each port becomes one, as of iblinkinfo. Tables are those of dump_fts and of "
      "opensm-lfts.dump. "
      "What the dumps do not say is assumed with a warning, and stands in the topology's "
      "\"source\". What contradicts itself is refused with file, line and reason. Of a script that "
      "starts a job variables, arrays, defaults and arithmetic are worked out, and the "
      "configuration is found that it writes or names, whose values its flags override "
      "(--training.seq_len 8192); of a log the arguments are read that a run prints. A field that "
      "nothing speaks of has what the framework does unasked; what is not read is told.";
  command.run = run_import;
  return command;
}

}  // namespace headway
