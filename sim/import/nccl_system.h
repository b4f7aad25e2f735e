#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/units.h"

namespace headway {

/// What is inside a node, as NCCL_TOPO_DUMP_FILE of NCCL or RCCL tells it (or a file written by
/// hand for NCCL_TOPO_FILE, which tells less).
struct NcclSystem {
  /// Numbers of the CPU and PCI switches above a device, outermost first; how much two of them
  /// share tells how near the devices are.
  using Place = std::vector<int>;

  struct Gpu {
    std::string bus_id;
    std::string device;          ///< PCI device id, "0x2330"; may be empty
    int compute_capability = 0;  ///< NVIDIA's, 90 for Hopper; 0 if it is not told
    std::string gcn;             ///< AMD's, "gfx942"; empty if it is not told
    int nvlinks = 0;
    int xgmi_links = 0;
    BytesPerSecond pcie;  ///< of its slot
    Place place;
  };
  struct Port {
    std::string name;
    BytesPerSecond bandwidth;
    std::uint64_t guid = 0;  ///< 0 if it is not told
  };
  /// A network card; without ports where the file tells of the card only.
  struct Nic {
    std::vector<Port> ports;
    Place place;
  };

  std::vector<Gpu> gpus;  ///< as NCCL numbers them
  std::vector<Nic> nics;
  int links = 0;              ///< NVLink or xGMI as written: each is told by both its ends
  bool has_kilobits = false;  ///< speeds of ports were in kb/s, where NCCL writes Mb/s
};

/// Nothing, with line and reason, if the file is none.
[[nodiscard]] std::optional<NcclSystem> read_nccl_system(const std::string& path,
                                                         Diagnostics& diagnostics);

/// For each GPU the NIC that shares most of its way to the CPU; of several that share as much the
/// one taken least so far.
[[nodiscard]] std::vector<int> nearest_nics(const NcclSystem& system);

}  // namespace headway
