#include "sim/cli/help/version_text.h"

#include <fmt/format.h>

#include "sim/engine/engine_version.h"
#include "sim/files/input_files.h"
#include "sim/scenario/provenance.h"

namespace headway {

std::string version_text(bool verbose) {
  std::string text = fmt::format("headway {}\n", headway_version());
  if (!verbose) return text;
  text += fmt::format("SimGrid {}: CM02, no cross-traffic, TCP-gamma off\n", engine_version());
  text += fmt::format("compiler {}\n", __VERSION__);
  for (const std::filesystem::path& folder : data_folders()) {
    text += fmt::format("data {}\n", folder.string());
  }
  return text;
}

}  // namespace headway
