#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/costs/nccl_constants.h"

namespace headway {

/// What is known of an accelerator whatever software runs on it: the parts "hardware" and "nccl"
/// of a profile.
struct Accelerator {
  std::string profile;                     ///< its name, as scenarios have it: "h100_sxm"
  std::string name;                        ///< as topologies have it: "h100-sxm"
  std::vector<std::string> published_as;   ///< in rows of published steps: "H100"
  std::vector<std::string> pci_devices;    ///< ids: "0x2330"
  BytesPerSecond scale_up_bandwidth;       ///< of one accelerator, one way
  std::optional<NcclNodeCosts> nccl = {};  ///< nothing if nobody published tables of it
};

/// Those of the data folders that say something about it, by profile; read once. Throws InputError
/// with the problems of all files that cannot be read.
[[nodiscard]] const std::vector<Accelerator>& accelerators();

/// Where profiles stand in a data folder, in the order in which they are looked for: those of a
/// user's own, then what ships: of each accelerator what is published, and what was measured on one.
[[nodiscard]] const std::vector<std::string>& profile_folders();

}  // namespace headway
