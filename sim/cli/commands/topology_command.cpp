#include "reports/answers/answers.h"
#include "reports/answers/fabric.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/options/topology_options.h"
#include "sim/cli/outputs.h"
#include "sim/network/analysis/fabric_analysis.h"

namespace headway {
namespace {

int run_topology(const Invocation& invocation) {
  Diagnostics diagnostics;
  const std::vector<OutputFile> files =
      answer_files(invocation.arguments, invocation.arguments.positional(), diagnostics);
  const auto cluster = cluster_of(invocation.arguments, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  if (invocation.arguments.has("dot")) {
    invocation.terminal.print(fabric_dot(*cluster));
    return kExitDone;
  }
  const FabricAnalysis analysis = analysed(*cluster);
  give(fabric_answer(*cluster, analysis), files, invocation);
  return kExitDone;
}

}  // namespace

Command topology_command() {
  Command command;
  command.name = "topology";
  command.group = "Look up";
  command.arguments = "FILE";
  command.summary = "counts, diameter, bisection and routes of a fabric";
  command.about =
      "Says what the cables and the routes of a fabric amount to. FILE is a topology, or a name of "
      "`headway list topologies`.";
  command.examples = {
      {"headway topology dgx_h100_superpod --nodes 32 --set /fabric/leaf/uplinks=16",
       "a design that ships with Headway"},
      {"headway topology site.json --json", "an imported fabric, for another program"},
  };
  command.options = with_standard_options({
      set_option("/fabric/transport=roce"),
      nodes_option(),
      {.name = "dot",
       .help = "the graph for Graphviz, instead of the counts",
       .group = OptionGroup::output,
       .excludes = {"json", "output"}},
      json_option(),
      output_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was counted";
  command.details =
      "Ports are counted by the switch that they hang on, in the order of the file, then by the "
      "port of that switch. The bisection is the largest flow from the first half of them to the "
      "others with every cable full; a shift by k sends from each port to the one k places on. "
      "Routed pairs are all ordered pairs of ports, each on its route; above 2e9 links on all "
      "routes they are not counted.";
  command.run = run_topology;
  return command;
}

}  // namespace headway
