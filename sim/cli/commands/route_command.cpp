#include "reports/answers/answers.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/options/topology_options.h"
#include "sim/cli/outputs.h"
#include "sim/network/analysis/found_route.h"
#include "sim/network/find_endpoint.h"

namespace headway {
namespace {

int run_route(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const std::vector<OutputFile> files =
      answer_files(arguments, {arguments.positional().front()}, diagnostics);
  const auto cluster = cluster_of(arguments, diagnostics);
  diagnostics.throw_if_errors();
  const VertexId source = find_endpoint(*cluster, arguments.positional()[1], diagnostics);
  const VertexId destination = find_endpoint(*cluster, arguments.positional()[2], diagnostics);
  diagnostics.throw_if_errors();
  show_warnings(diagnostics, invocation.terminal);
  const FoundRoute route = found_route(*cluster, source, destination);
  give(route_answer(*cluster, route), files, invocation);
  return route.hops ? kExitDone : kExitNegative;
}

}  // namespace

Command route_command() {
  Command command;
  command.name = "route";
  command.group = "Look up";
  command.arguments = "FILE A B";
  command.summary = "the hops that a flow takes, with ports and capacities";
  command.about =
      "Follows a flow from endpoint A to endpoint B through the fabric of FILE: a topology, or a "
      "name of `headway list topologies`.";
  command.examples = {
      {"headway route dgx_h100_superpod node0/nic0 node40/nic3", "on a design that ships"},
      {"headway route site.json 0x946dae0300e00030 0x946dae0300e00031",
       "on an imported fabric, by GUID; NAME/PORT does as well"},
  };
  command.options = with_standard_options({
      set_option("/fabric/transport=roce"),
      nodes_option(),
      json_option(),
      output_option(),
  });
  command.least_arguments = 3;
  command.most_arguments = 3;
  command.outcome = "nothing was routed";
  command.details =
      "A hop is a node and the port by which the flow leaves it; its latency is that of the cable "
      "and of the switch behind it. Its share is the part of the flow that takes it, less than 1 "
      "where the routing spreads flows over several paths. The exit code is 1 if the fabric's "
      "routing knows no way.";
  command.run = run_route;
  return command;
}

}  // namespace headway
