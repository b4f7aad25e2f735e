#include "sim/scenario/provenance.h"

#include <nlohmann/json.hpp>

#include "sim/base/fingerprint.h"
#include "sim/engine/engine_version.h"

namespace headway {

std::string headway_version() { return HEADWAY_VERSION; }

nlohmann::json provenance(const Scenario& scenario, const std::string& command_line) {
  return {{"headway", headway_version()},
          {"simgrid", engine_version()},
          {"simgrid_settings", "network/model:CM02 network/crosstraffic:0 network/TCP-gamma:1e30"},
          {"command_line", command_line},
          {"files", scenario.files},
          {"scenario_fingerprint", fingerprint_text(scenario.resolved.text())},
          {"profile_kind", scenario.profile->kind},
          {"profile_provenance", scenario.profile->provenance}};
}

}  // namespace headway
