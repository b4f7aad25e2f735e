#include <fmt/format.h>

#include <filesystem>

#include "reports/write_file.h"
#include "sim/base/file_text.h"
#include "sim/base/utf8.h"
#include "sim/cli/common_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/json_output.h"
#include "sim/cli/outputs.h"
#include "sim/cli/scenario_options.h"
#include "sim/cluster/import_infiniband.h"
#include "sim/cluster/import_infiniband.h"
#include "sim/cluster/read_topology.h"

namespace headway {
namespace {

constexpr std::size_t kMostFiles = 100'000;

using Importer = std::optional<nlohmann::json>(const std::vector<std::string>& paths,
                                               const std::string& name, const std::string& node,
                                               Diagnostics& diagnostics);

/// What FORMAT may be.
struct Format {
  std::string_view name;
  Importer* import;
};
constexpr Format kFormats[] = {
    {"ibnetdiscover", import_infiniband},
};

const Format& format_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  Diagnostic problem;
  problem.message = fmt::format("there is no importer of {}", in_quotes(name));
  problem.help = name_help(name, names);
  throw InputError(std::move(problem));
}

/// "site" of "dumps/site.txt.gz".
std::string name_of_file(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string stem = name.substr(0, name.find('.'));
  return printable(stem.empty() || path == "-" ? "imported" : stem);
}

/// Nothing leaves the importer that could not be used: it is read back as a user would.
std::shared_ptr<const Cluster> read_back(const std::string& text, Diagnostics& diagnostics) {
  InputFiles files({}, data_folders(), diagnostics);
  auto document = JsonDocument::parse("the imported topology", text, diagnostics);
  if (document == nullptr) return nullptr;
  const auto read = read_topology(JsonCursor(std::move(document)), files);
  return read ? read->cluster : nullptr;
}

int run_import(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const Format& format = format_named(arguments.positional().front());
  const std::vector<std::string> paths(arguments.positional().begin() + 1,
                                       arguments.positional().end());
  Diagnostics diagnostics;
  std::vector<OutputFile> outputs;
  for (const std::string& path : arguments.values("output")) {
    outputs.push_back({.option = "-o", .path = path});
    check_suffix(outputs.back(), {".json"}, diagnostics);
  }
  check_outputs(outputs, diagnostics);
  check_outputs_spare(outputs, paths, diagnostics);
  diagnostics.throw_if_errors();

  const auto topology =
      format.import(paths, arguments.value("name").value_or(name_of_file(paths.front())),
                    arguments.value("node").value_or(""), diagnostics);
  diagnostics.throw_if_errors();
  const std::string text = json_document_text(*topology);
  const auto cluster = read_back(text, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  for (const OutputFile& output : outputs) {
    write_file(output.path, text);
  }
  if (outputs.empty()) {
    invocation.terminal.print(text);
  } else {
    invocation.terminal.print(
        fmt::format("{}: {} hosts with {} ports, {} switches, {} cables\n",
                    printable(cluster->name), cluster->site.hosts, cluster->site.host_ports.size(),
                    cluster->topology.switch_count(), cluster->topology.cable_count()));
  }
  return kExitDone;
}

}  // namespace

Command import_command() {
  Command command;
  command.name = "import";
  command.group = "Look up";
  command.arguments = "FORMAT FILE...";
  command.summary = "a topology from what a real fabric dumps";
  command.about =
      "Makes a topology from dumps of a real fabric, gzipped or not. FORMAT is ibnetdiscover: its "
      "output, and with it the forwarding tables of dump_fts or OpenSM.";
  command.examples = {
      {"headway import ibnetdiscover fabric.txt tables.txt.gz -o site.json",
       "cables and forwarding tables of an InfiniBand fabric"},
      {"headway import ibnetdiscover fabric.txt --node dgx_h100 -o site.json",
       "cables only, routed by shortest paths, between nodes of a known type"},
  };
  Option output = output_option();
  output.help = "writes the topology to a .json file instead of standard output";
  command.options = with_standard_options({
      {.name = "name",
       .value = "TEXT",
       .fallback = "the first file's",
       .help = "what reports call the cluster",
       .group = OptionGroup::input},
      {.name = "node",
       .value = "NAME",
       .fallback = "an accelerator for each NIC",
       .help = "the type of the nodes: a file, or a name of topologies/nodes",
       .group = OptionGroup::input},
      output,
  });
  command.least_arguments = 2;
  command.most_arguments = kMostFiles;
  command.outcome = "nothing was imported";
  command.details =
      "Plain ibnetdiscover and its options -f, -g and -p are read; of -p, which has no GUIDs of "
      "adapters, each port becomes one. Tables are those of dump_fts and of opensm-lfts.dump. What "
      "the dumps do not say is assumed with a warning, and stands in the topology's \"source\". "
      "What "
      "contradicts itself is refused with file, line and reason.";
  command.run = run_import;
  return command;
}

}  // namespace headway
