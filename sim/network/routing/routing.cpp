#include "sim/network/routing/routing.h"

#include <fmt/format.h>

#include <utility>

namespace headway {

UnreachableError::UnreachableError(const Topology& topology, VertexId source, VertexId destination)
    : std::runtime_error(
          fmt::format("no path from {} to {}", topology.name(source), topology.name(destination))),
      source_(source),
      destination_(destination) {}

InputError as_input_error(const UnreachableError& error) {
  Diagnostic problem;
  problem.message = error.what();
  problem.help =
      "the forwarding tables lack it, or lead over what is down; `headway topology` "
      "counts such pairs";
  return InputError(std::move(problem));
}

}  // namespace headway
