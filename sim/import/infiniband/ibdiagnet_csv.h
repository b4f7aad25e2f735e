#pragma once

#include "sim/import/infiniband/infiniband_fabric.h"
#include "sim/import/line_reader.h"

namespace headway {

/// Whether a line begins a section of ibdiagnet2.db_csv.
[[nodiscard]] bool is_ibdiagnet_line(std::string_view line);

/// Reads the sections NODES, PORTS and LINKS of the ibdiagnet2.db_csv that `ibdiagnet` writes,
/// beginning with `line`; its columns are found by their names. Other sections are passed over.
void read_ibdiagnet_csv(LineReader& lines, std::string_view line, InfiniBandFabric& fabric,
                        Diagnostics& diagnostics);

}  // namespace headway
