#pragma once

#include "sim/import/infiniband/infiniband_fabric.h"
#include "sim/import/line_reader.h"

namespace headway {

/// Whether a line is one of `ibnetdiscover -p`.
[[nodiscard]] bool is_port_list_line(std::string_view line);

/// Reads the output of `ibnetdiscover -p`, a line for each port, beginning with `line`. It has the
/// GUIDs of adapters' ports only: each port becomes an adapter of its own.
void read_port_list(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                    Diagnostics& diagnostics);

}  // namespace headway
