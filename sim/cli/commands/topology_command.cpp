#include "reports/answers/fabric_report.h"

#include <nlohmann/json.hpp>
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/options/topology_options.h"
#include "sim/files/json_output.h"

namespace headway {
namespace {

int run_topology(const Invocation& invocation) {
  if (invocation.arguments.has("dot") && invocation.arguments.has("json")) {
    Diagnostic problem;
    problem.message = "--dot and --json are two forms of output";
    problem.help = "leave one of them out";
    throw InputError(std::move(problem));
  }
  Diagnostics diagnostics;
  const auto cluster = cluster_of(invocation.arguments, diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  if (invocation.arguments.has("dot")) {
    invocation.terminal.print(fabric_dot(*cluster));
    return kExitDone;
  }
  const FabricAnalysis analysis = analysed(*cluster);
  invocation.terminal.print(invocation.arguments.has("json")
                                ? json_document_text(fabric_json(*cluster, analysis))
                                : fabric_text(*cluster, analysis));
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
      {"headway topology dgx_h100_superpod --nodes 32", "a design that ships with Headway"},
      {"headway topology site.json --json", "an imported fabric, for another program"},
  };
  command.options = with_standard_options({
      set_option("/fabric/leaf/uplinks=16"),
      nodes_option(),
      {.name = "dot",
       .help = "the graph for Graphviz, instead of the counts",
       .group = OptionGroup::output},
      json_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was counted";
  command.details =
      "Ports are counted by the switch that they hang on, in the order of the file, then by the "
      "port of that switch. The bisection is the largest flow from the first half of them to the "
      "others with every cable full; a shift by k sends from each port to the one k places on. "
      "Routed pairs are all ordered pairs of ports, each on its route; above 2e9 links on all "
      "routes "
      "they are not counted.";
  command.run = run_topology;
  return command;
}

}  // namespace headway
